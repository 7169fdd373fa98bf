// An order with ties: groups of positions, best first. Positions in no group are not compared.
export class Ranking {
  constructor(places) {
    this.places = places;
    this.groups = [];
  }

  get placed() { return this.groups.flat(); }

  get rest() { return [...Array(this.places).keys()].filter((p) => !this.placed.includes(p)); }

  groupOf(position) { return this.groups.findIndex((group) => group.includes(position)); }

  remove(position) {
    this.groups = this.groups.map((group) => group.filter((p) => p !== position)).filter((group) => group.length);
  }

  // At the end. One that is then left over goes last.
  add(position) {
    this.remove(position);
    this.groups.push([position]);
    this.fill();
  }

  fill() { if (this.rest.length === 1) this.groups.push(this.rest); }

  // Before the group that is at `index` now; beyond the last, at the end.
  insert(position, index) {
    const fresh = this.groupOf(position) < 0;
    const before = this.groups.slice(0, index).filter((group) => group.some((p) => p !== position)).length;
    this.remove(position);
    this.groups.splice(before, 0, [position]);
    if (fresh) this.fill();
  }

  // Level with those of the group that `other` is in.
  level(position, other) {
    if (position === other) return;
    this.remove(position);
    const group = this.groups[this.groupOf(other)];
    if (group) group.push(position); else this.add(position);
  }

  levelAll() { this.groups = [[...Array(this.places).keys()]]; }

  // One step towards the best (-1) or the worst (+1): out of a tie first, then past the neighbour.
  move(position, step) {
    const at = this.groupOf(position);
    if (at < 0) return this.add(position);
    if (this.groups[at].length > 1) return this.insert(position, step < 0 ? at : at + 1);
    const to = at + step;
    if (to < 0 || to >= this.groups.length) return;
    [this.groups[at], this.groups[to]] = [this.groups[to], this.groups[at]];
  }

  levelWithBefore(position) {
    const at = this.groupOf(position);
    if (at > 0) this.level(position, this.groups[at - 1][0]);
  }

  placeOf(position) {
    const at = this.groupOf(position);
    return at < 0 ? 0 : 1 + this.groups.slice(0, at).flat().length;
  }

  get ballot() { return this.placed.length < 2 ? null : { rank: this.groups.map((group) => [...group].sort((a, b) => a - b)) }; }
}
