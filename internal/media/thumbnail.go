// Thumbnails of pictures and videos.

package media

import (
	"context"
	"os"

	"github.com/recado-project/recado/internal/media/probe"
)

// thumbnail makes a small JPEG of an image. It returns nil for an image that is too
// much work to decode, or can't be decoded: the platform shows it without one.
func (s *Service) thumbnail(ctx context.Context, file *os.File, about probe.Picture) ([]byte, error) {
	return s.decoders.decode(ctx, file, about, asThumbnail)
}
