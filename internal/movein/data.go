// Recado's own data, which no gateway may work with meanwhile.

package movein

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/store/claim"
)

// ErrGatewayRuns is the error for data that a gateway works with.
var ErrGatewayRuns = errors.New("a gateway runs on this data: stop it first, and start it again afterwards")

// claimWait is how long to wait for the claim of a PostgreSQL database: that of a gateway that has just ended
// may last for a moment.
const claimWait = 5 * time.Second

// Take keeps gateways away from the data until release is called. Its error is
// ErrGatewayRuns if one works with it.
func Take(ctx context.Context, data store.Config) (release func() error, err error) {
	if data.URL == "" {
		release, err := claim.TakeFolder(filepath.Dir(data.Path))
		if errors.Is(err, claim.ErrFolderTaken) {
			return nil, ErrGatewayRuns
		}
		return release, err
	}
	ctx, cancel := context.WithTimeout(ctx, claimWait)
	defer cancel()
	taken, err := claim.Take(ctx, data.URL, data.Logger)
	if errors.Is(err, claim.ErrTaken) {
		return nil, ErrGatewayRuns
	}
	if err != nil {
		return nil, err
	}
	return taken.Close, nil
}
