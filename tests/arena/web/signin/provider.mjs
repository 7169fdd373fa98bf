// The npm package oidc-provider, certified by the OpenID Foundation, with three people in it. A login of any password is taken.
// node provider.mjs FOLDER_OF_NODE_MODULES REDIRECT_URI...: prints its port, and ends when its input does.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [folder, ...redirects] = process.argv.slice(2);
const { Provider } = await import(pathToFileURL(`${folder}/node_modules/oidc-provider/lib/index.js`));
const people = {
  ada: { name: 'Ada Lovelace', email: 'Ada@Example.com', email_verified: true },
  bob: { name: 'Bob <b>Bold</b>', email: 'bob@example.com', email_verified: true },
  eve: { name: 'Eve', email: 'ada@example.com', email_verified: false },
};
const server = createServer((request, response) => provider.callback()(request, response));
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const provider = new Provider(`http://127.0.0.1:${server.address().port}`, {
  clients: [{ client_id: 'arena', client_secret: 'the-arena-has-a-secret-of-its-own', redirect_uris: redirects }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  pkce: { required: () => true },
  cookies: { keys: ['a key of a test'] },
  findAccount: (_, id) => (people[id] ? { accountId: id, claims: () => ({ sub: id, ...people[id] }) } : undefined),
});
console.log(server.address().port);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
