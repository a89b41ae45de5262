package client

import "iter"

// Page is a part of a list.
type Page[T any] struct {
	Data         []T  `json:"data"`
	IsFirstPage  bool `json:"isFirstPage"`
	IsLastPage   bool `json:"isLastPage"`
	CurrentPage  int  `json:"currentPage"`
	PreviousPage *int `json:"previousPage"` // nil if there is none
	NextPage     *int `json:"nextPage"`     // nil if there is none
	PageCount    int  `json:"pageCount"`
	TotalCount   int  `json:"totalCount"`
}

// items yields the items of all pages of a list. An error ends the sequence.
func items[T any](fetch func(page int) (Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for number := 1; ; number++ {
			page, err := fetch(number)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
			if page.IsLastPage || len(page.Data) == 0 {
				return
			}
		}
	}
}
