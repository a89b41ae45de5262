// Pages of lists: the parameters of a request, and the envelope of the answer.

package contract

import (
	"net/url"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/gateway"
)

// lastPage is the highest page that the store is asked for. No list is that long, and
// beyond it the arithmetic overflows.
const lastPage = 1 << 40

// Paging is the query of a list, embedded in the input of an operation.
type Paging struct {
	Page  int64 `query:"page" default:"1" minimum:"1" doc:"Which page, counted from 1."`
	Limit int64 `query:"limit" default:"100" minimum:"1" maximum:"100" doc:"Items on a page."`
}

// Resolve refuses parameters without a value, which huma takes for absent.
func (Paging) Resolve(ctx huma.Context) []error {
	address := ctx.URL()
	if address.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(address.RawQuery)
	if err != nil {
		return nil // the gate has refused it
	}
	var errs []error
	for _, name := range []string{"page", "limit"} {
		if query.Has(name) && query.Get(name) == "" {
			errs = append(errs, body.Wrong(name, "must be a whole number"))
		}
	}
	return errs
}

// Request returns the page that a store is asked for.
func (p Paging) Request() gateway.PageRequest {
	return gateway.PageRequest{Page: int(min(p.Page, lastPage)), Limit: int(p.Limit)}
}

// Envelope is the answer of a list.
type Envelope[T any] struct {
	Data         []T    `json:"data" nullable:"false" doc:"The items, in the order that the operation describes."`
	IsFirstPage  bool   `json:"isFirstPage" example:"true"`
	IsLastPage   bool   `json:"isLastPage" example:"true"`
	CurrentPage  int64  `json:"currentPage" example:"1"`
	PreviousPage *int64 `json:"previousPage" nullable:"true" doc:"Null on the first page."`
	NextPage     *int64 `json:"nextPage" nullable:"true" doc:"Null on the last page and beyond it."`
	PageCount    int64  `json:"pageCount" example:"1" doc:"How many pages there are; 0 for an empty list."`
	TotalCount   int64  `json:"totalCount" example:"1" doc:"How many items there are on all pages."`
}

// NewEnvelope makes the answer of a list from the page that p asked for.
func NewEnvelope[T, U any](p Paging, page gateway.Page[U], convert func(U) T) Envelope[T] {
	total := int64(page.Total)
	e := Envelope[T]{
		Data:        make([]T, len(page.Items)),
		CurrentPage: p.Page,
		PageCount:   (total + p.Limit - 1) / p.Limit,
		TotalCount:  total,
	}
	for i, item := range page.Items {
		e.Data[i] = convert(item)
	}
	if p.Page > 1 {
		e.PreviousPage = new(p.Page - 1)
	}
	if p.Page < e.PageCount {
		e.NextPage = new(p.Page + 1)
	}
	e.IsFirstPage, e.IsLastPage = e.PreviousPage == nil, e.NextPage == nil
	return e
}
