/** Things of which the first is at hand. */
export interface Heap<T> {
  push(item: T): void;
  pop(): T | undefined;
  peek(): T | undefined;
}

/** @param before true when the one comes before the other */
export function createHeap<T>(before: (one: T, other: T) => boolean): Heap<T> {
  const items: T[] = [];
  const at = (index: number) => items[index] as T;
  const swap = (one: number, other: number): void => {
    [items[one], items[other]] = [at(other), at(one)];
  };
  const rise = (from: number): void => {
    for (let index = from; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!before(at(index), at(parent))) return;
      swap(index, parent);
      index = parent;
    }
  };
  const firstOf = (index: number): number => {
    const [left, right] = [2 * index + 1, 2 * index + 2];
    let first = index;
    if (left < items.length && before(at(left), at(first))) first = left;
    if (right < items.length && before(at(right), at(first))) first = right;
    return first;
  };
  const sink = (): void => {
    for (let index = 0, first = firstOf(0); first !== index; first = firstOf(index)) {
      swap(index, first);
      index = first;
    }
  };
  return {
    push(item) {
      items.push(item);
      rise(items.length - 1);
    },
    pop() {
      const [first] = items;
      const last = items.pop();
      if (items.length > 0 && last !== undefined) {
        items[0] = last;
        sink();
      }
      return first;
    },
    peek: () => items[0],
  };
}
