<?php

declare(strict_types=1);

namespace Recado;

/**
 * A part of a list.
 *
 * @template Item of object
 */
class Page
{
    /** @var list<Item> */
    public readonly array $data;

    public readonly bool $isFirstPage;

    public readonly bool $isLastPage;

    public readonly int $currentPage;

    /** null if there is none. */
    public readonly ?int $previousPage;

    /** null if there is none. */
    public readonly ?int $nextPage;

    public readonly int $pageCount;

    public readonly int $totalCount;

    /**
     * @internal
     *
     * @param class-string<Item> $item
     */
    public function __construct(Json $json, string $item)
    {
        $this->data = $json->list('data', $item) ?? [];
        $this->isFirstPage = $json->bool('isFirstPage') ?? false;
        $this->isLastPage = $json->bool('isLastPage') ?? false;
        $this->currentPage = $json->int('currentPage') ?? 0;
        $this->previousPage = $json->int('previousPage');
        $this->nextPage = $json->int('nextPage');
        $this->pageCount = $json->int('pageCount') ?? 0;
        $this->totalCount = $json->int('totalCount') ?? 0;
    }

    /**
     * Yields the items of all pages of a list.
     *
     * @internal
     *
     * @template Listed of object
     *
     * @param callable(int): Page<Listed> $fetch
     *
     * @return \Generator<int, Listed>
     */
    public static function all(callable $fetch): \Generator
    {
        for ($number = 1;; $number++) {
            $page = $fetch($number);
            foreach ($page->data as $item) {
                yield $item;
            }
            if ($page->isLastPage || $page->data === []) {
                return;
            }
        }
    }
}
