// Lists as sequences.

/** A page of a list. */
export interface Page<Item> {
  data: Item[];
  isLastPage: boolean;
}

/**
 * items yields the items of all pages of a list:
 *
 *     for await (const chat of items((page) => recado.listChats({ instanceId, page }))) { … }
 */
export async function* items<Item>(fetchPage: (page: number) => Promise<Page<Item>>): AsyncGenerator<Item, void> {
  for (let page = 1; ; page++) {
    const { data, isLastPage } = await fetchPage(page);
    yield* data;
    if (isLastPage || data.length === 0) return;
  }
}
