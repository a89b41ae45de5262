// Removal in slices, so that other writes need not wait for long.

package store

import "context"

// sliceRows bounds how many rows one transaction removes, so that other writes don't wait
// long.
const sliceRows = 1_000

// deleteInSlices runs a DELETE statement until it removes no more rows, and returns how
// many there were. Its first parameter is choice, its second one the largest number of
// rows to remove. Each run is a transaction of its own, so those before an error remain
// done.
func (s *Store) deleteInSlices(ctx context.Context, query string, choice any) (removed int64, err error) {
	return inSlices(func() (int64, error) { return s.db.exec(ctx, query, choice, sliceRows) })
}

// inSlices repeats a removal of sliceRows rows at most, as deleteInSlices does.
func inSlices(remove func() (int64, error)) (removed int64, err error) {
	for {
		n, err := remove()
		removed += n
		if err != nil || n < sliceRows {
			return removed, err
		}
	}
}
