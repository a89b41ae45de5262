package sandbox

import (
	"strings"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
)

// Owns reports whether a path is the sandbox's, for servers that have others
// beside it.
func Owns(path string) bool {
	return path == WebsocketPath || strings.HasPrefix(path, "/sandbox/") || mediahost.Owns(path)
}
