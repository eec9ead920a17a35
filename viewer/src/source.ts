// source.ts - the sources of data: the server of `cairn view`, or the page itself if it was written by
// `cairn export --html`. Both give rows of columns, as in a run file.

export interface Column {
  rows: number;
  width: number;
  whole: boolean;
  unit: string;
  names?: string[];
}

export interface Description {
  grows: boolean;
  interrupted: boolean; // killed: it is no longer written
  attributes: Record<string, number | number[] | string>;
  columns: Record<string, Column>;
  texts: Record<string, string[]>;
}

export type NumberType = 'f4' | 'f8' | 'i4';

/** Some rows of a column. */
export interface Wish {
  column: string;
  type: NumberType;
  first: number;
  count: number;
}

export type Numbers = Float32Array | Float64Array | Int32Array;

export interface Source {
  readonly name: string;
  readonly served: boolean;
  describe(): Promise<Description>;
  /** Numbers of several columns; `width` is the number in each row. */
  rows(wishes: Wish[], width: (column: string) => number): Promise<Numbers[]>;
}

const bytesOf = (type: NumberType): number => (type === 'f8' ? 8 : 4);

export function allocate(type: NumberType, count: number): Numbers {
  if (type === 'f8') return new Float64Array(count);
  return type === 'i4' ? new Int32Array(count) : new Float32Array(count);
}

// ---- the server ---------------------------------------------------------------------------------

const requestBytes = 16 << 20; // one request at a time, so that a slow page delays nobody

interface Piece {
  wish: Wish;
  into: Numbers;
  at: number; // in numbers
}

export class ServerSource implements Source {
  readonly served = true;
  private line: Promise<unknown> = Promise.resolve();

  constructor(readonly index: number, readonly name: string) {}

  async describe(): Promise<Description> {
    return (await (await ask(`run/${this.index}`)).json()) as Description;
  }

  rows(wishes: Wish[], width: (column: string) => number): Promise<Numbers[]> {
    const next = this.line.then(() => this.fetchAll(wishes, width));
    this.line = next.catch(() => undefined);
    return next;
  }

  private async fetchAll(wishes: Wish[], width: (column: string) => number): Promise<Numbers[]> {
    const answers = wishes.map((w) => allocate(w.type, w.count * width(w.column)));
    let group: Piece[] = [];
    let room = requestBytes;
    for (let i = 0; i < wishes.length; i++) {
      const w = wishes[i];
      const rowBytes = width(w.column) * bytesOf(w.type);
      for (let done = 0; done < w.count || (done === 0 && w.count === 0);) {
        const count = Math.min(w.count - done, Math.max(1, Math.floor(room / rowBytes)));
        if (count > 0)
          group.push({ wish: { ...w, first: w.first + done, count }, into: answers[i], at: done * width(w.column) });
        room -= count * rowBytes;
        done += count;
        if (room < rowBytes || group.length === 30) {
          await this.fetchGroup(group, width);
          group = [];
          room = requestBytes;
        }
        if (w.count === 0) break;
      }
    }
    if (group.length > 0) await this.fetchGroup(group, width);
    return answers;
  }

  private async fetchGroup(group: Piece[], width: (column: string) => number): Promise<void> {
    const query = group.map((p) => `c=${p.wish.column},${p.wish.type},${p.wish.first},${p.wish.count}`).join('&');
    const data = await (await ask(`rows/${this.index}?${query}`)).arrayBuffer();
    let at = 0;
    for (const p of group) {
      const count = p.wish.count * width(p.wish.column);
      const bytes = count * bytesOf(p.wish.type);
      const numbers =
        p.wish.type === 'f8' ? new Float64Array(data, at, count)
        : p.wish.type === 'i4' ? new Int32Array(data, at, count) : new Float32Array(data, at, count);
      (p.into as Float32Array).set(numbers as Float32Array, p.at);
      at += Math.ceil(bytes / 8) * 8;
    }
  }
}

async function ask(what: string): Promise<Response> {
  let answer = await fetch(what, { cache: 'no-store' });
  // a run in progress was writing: try again
  for (let i = 0; i < 20 && answer.status === 503; i++) {
    await new Promise((done) => setTimeout(done, 200));
    answer = await fetch(what, { cache: 'no-store' });
  }
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return answer;
}

/** The runs of the server, and whether it waits for pictures. */
export async function serverSources(): Promise<{ sources: Source[]; pictures: boolean }> {
  const { runs, pictures } = (await (await ask('runs')).json()) as { runs: { name: string }[]; pictures: boolean };
  return { sources: runs.map((r, i) => new ServerSource(i, r.name)), pictures };
}

export async function endServer(): Promise<void> {
  await fetch('end', { method: 'POST' });
}

// ---- a page with its data -----------------------------------------------------------------------

/** A column inside the page: plain, or quantised to 16 bits between the minimum and the maximum. */
interface Stored {
  offset: number; // bytes
  kind: 'f4' | 'f8' | 'i4' | 'u2';
  low?: number[];
  high?: number[];
}

interface Package {
  name: string;
  description: Description;
  stored: Record<string, Stored>;
}

export class PageSource implements Source {
  readonly served = false;
  readonly name: string;
  private decoded = new Map<string, Numbers>();

  constructor(private pack: Package, private data: ArrayBuffer) {
    this.name = pack.name;
  }

  async describe(): Promise<Description> {
    const { columns, ...rest } = this.pack.description;
    return { ...rest, grows: false, interrupted: rest.interrupted ?? false, columns: Object.fromEntries(Object.entries(columns).filter(([c]) => this.pack.stored[c])) };
  }

  async rows(wishes: Wish[], width: (column: string) => number): Promise<Numbers[]> {
    return wishes.map((w) => {
      const all = this.decode(w.column);
      const wide = width(w.column);
      const part = all.subarray(w.first * wide, (w.first + w.count) * wide);
      const out = allocate(w.type, part.length);
      (out as Float32Array).set(part as Float32Array);
      return out;
    });
  }

  private decode(column: string): Numbers {
    const known = this.decoded.get(column);
    if (known) return known;
    const { rows, width } = this.pack.description.columns[column];
    const s = this.pack.stored[column];
    const count = rows * width;
    let out: Numbers;
    if (s.kind === 'f4') out = new Float32Array(this.data, s.offset, count);
    else if (s.kind === 'f8') out = new Float64Array(this.data, s.offset, count);
    else if (s.kind === 'i4') out = new Int32Array(this.data, s.offset, count);
    else out = this.dequantise(s, rows, width);
    this.decoded.set(column, out);
    return out;
  }

  // the low bytes of all numbers come before the high ones: they compress better
  private dequantise(s: Stored, rows: number, width: number): Float32Array {
    const bytes = new Uint8Array(this.data, s.offset, 2 * rows * width);
    const out = new Float32Array(rows * width);
    const half = rows * width;
    for (let i = 0; i < half; i++) {
      const c = i % width;
      const low = s.low![c];
      out[i] = low + ((s.high![c] - low) * (bytes[i] + 256 * bytes[half + i])) / 65535;
    }
    return out;
  }
}

/** The run inside this page; null: there is none. */
export async function pageSource(): Promise<Source | null> {
  const text = document.getElementById('cairn-data')?.textContent?.trim();
  if (!text) return null;
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const all = await new Response(stream).arrayBuffer();
  const length = new DataView(all).getUint32(0, true);
  const pack = JSON.parse(new TextDecoder().decode(new Uint8Array(all, 8, length))) as Package;
  return new PageSource(pack, all.slice(8 + Math.ceil(length / 8) * 8));
}
