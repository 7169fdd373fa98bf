// An order with ties: a slot for each place, best first, that holds any number of positions. Positions in no slot are not compared.
export class Ranking {
  constructor(places) {
    this.places = places;
    this.slots = Array.from({ length: places }, () => []);
  }

  get placed() { return this.slots.flat(); }

  get rest() { return [...Array(this.places).keys()].filter((p) => !this.placed.includes(p)); }

  slotOf(position) { return this.slots.findIndex((slot) => slot.includes(position)); }

  remove(position) { this.slots = this.slots.map((slot) => slot.filter((p) => p !== position)); }

  // Into the best slot that is empty.
  add(position) {
    this.remove(position);
    this.slots[this.slots.findIndex((slot) => !slot.length)].push(position);
    this.fill();
  }

  // One that is left over goes where there is no doubt: into the only empty slot, or behind all others.
  fill() {
    const empty = [...this.slots.keys()].filter((k) => !this.slots[k].length);
    const behind = empty[0] === this.slots.length - empty.length;
    if (this.rest.length === 1 && (empty.length === 1 || behind)) this.slots[empty[0]].push(this.rest[0]);
  }

  // Into a slot: with those that are there, a tie.
  put(position, slot) {
    const fresh = this.slotOf(position) < 0;
    this.remove(position);
    this.slots[slot].push(position);
    if (fresh) this.fill();
  }

  // Between two slots: before the one that is at `slot` now. Others make room, towards the nearest empty slot.
  insert(position, slot) {
    const fresh = this.slotOf(position) < 0;
    this.remove(position);
    let empty = this.slots.findIndex((there, k) => k >= slot && !there.length);
    if (empty < 0) empty = this.slots.findLastIndex((there, k) => k < slot && !there.length);
    this.slots.splice(empty, 1);
    this.slots.splice(empty < slot ? slot - 1 : slot, 0, [position]);
    if (fresh) this.fill();
  }

  tieAll() { this.slots = this.slots.map((_, k) => (k ? [] : [...Array(this.places).keys()])); }

  // One step towards the best (-1) or the worst (+1): out of a tie first, then past the neighbour.
  move(position, step) {
    const at = this.slotOf(position);
    if (at < 0) return this.add(position);
    if (this.slots[at].length > 1) return this.insert(position, step < 0 ? at : at + 1);
    const to = at + step;
    if (to < 0 || to >= this.slots.length) return;
    [this.slots[at], this.slots[to]] = [this.slots[to], this.slots[at]];
  }

  tieWithBefore(position) {
    const at = this.slotOf(position);
    const before = this.slots.findLastIndex((slot, k) => k < at && slot.length);
    if (before >= 0) this.put(position, before);
  }

  // 1 for the best; 0 if it is not placed.
  placeOf(position) { return this.slotOf(position) + 1; }

  get ballot() {
    return this.placed.length < 2 ? null : { rank: this.slots.filter((slot) => slot.length).map((slot) => [...slot].sort((a, b) => a - b)) };
  }

  // The order that a ballot says.
  set ballot(said) {
    this.slots = this.slots.map((_, k) => [said.rank[k] ?? []].flat());
  }
}
