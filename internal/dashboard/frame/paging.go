// Tables that are longer than a page.

package frame

import (
	"maps"
	"net/url"
	"strconv"
)

// maxPage bounds the number of a page.
const maxPage = 1_000_000

// PageOf returns the number of the page that a query asks for, from 1.
func PageOf(query url.Values) int {
	page, err := strconv.Atoi(query.Get("page"))
	if err != nil || page < 1 || page > maxPage {
		return 1
	}
	return page
}

// Around returns the links to the first page of a table and to the next one, each with the
// rest of the query; empty for none. limit is the rows of a page, total those of the table.
func Around(path string, query url.Values, page, limit, total int) (before, after string) {
	query = maps.Clone(query)
	if page > 1 {
		query.Del("page")
		before = WithQuery(path, query)
	}
	if page*limit < total {
		if query == nil {
			query = url.Values{}
		}
		query.Set("page", strconv.Itoa(page+1))
		after = WithQuery(path, query)
	}
	return before, after
}

// WithQuery returns the address of a path with a query.
func WithQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
