package sandbox

import (
	"strings"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
)

// Owns reports whether the sandbox serves a path, for servers that also serve
// others.
func Owns(path string) bool {
	return path == WebsocketPath || strings.HasPrefix(path, "/sandbox/") || mediahost.Owns(path)
}
