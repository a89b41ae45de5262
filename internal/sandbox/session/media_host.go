// The answer to a client that asks where to upload files.

package session

import (
	"context"
	"strconv"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// mediaConnLife is how long a client may use the answer of iqMediaConn.
const mediaConnLife = 24 * time.Hour

// iqMediaConn answers where the media host is. It has the same address as the
// platform.
func iqMediaConn(_ context.Context, c account.Asker, _ waBinary.Node) ([]waBinary.Node, error) {
	life := strconv.Itoa(int(mediaConnLife.Seconds()))
	return []waBinary.Node{{
		Tag:     "media_conn",
		Attrs:   waBinary.Attrs{"auth": wire.NewID(), "ttl": life, "auth_ttl": life, "max_buckets": "12"},
		Content: []waBinary.Node{{Tag: "host", Attrs: waBinary.Attrs{"hostname": c.Origin.Host}}},
	}}, nil
}
