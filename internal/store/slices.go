package store

import "context"

// sliceRows bounds how many rows one transaction removes, and with it how long other
// writes wait for it.
const sliceRows = 1_000

// deleteInSlices runs a statement that deletes what its first parameter chooses, as
// many rows at a time as its second one says, until there is nothing left. Each time
// is a transaction of its own, so an error leaves what was removed before it. It
// returns how many rows there were.
func (s *Store) deleteInSlices(ctx context.Context, query string, choice any) (removed int64, err error) {
	for {
		n, err := s.db.exec(ctx, query, choice, sliceRows)
		removed += n
		if err != nil || n < sliceRows {
			return removed, err
		}
	}
}
