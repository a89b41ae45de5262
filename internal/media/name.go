package media

import (
	"time"

	"github.com/gabriel-vasile/mimetype"

	"github.com/recado-project/recado/internal/gateway"
)

// DefaultName makes a name for media that has none, from its type and time, in UTC:
// "image-20261120-142210.jpg".
func DefaultName(kind gateway.MessageType, mimeType string, at time.Time) string {
	return string(kind) + "-" + at.UTC().Format("20060102-150405") + extension(mimeType)
}

// extension returns the usual extension of a media type with its dot; ".bin" for an
// unknown type.
func extension(mimeType string) string {
	base, _ := declaredType(mimeType)
	switch base { // extensions that people expect; mimetype knows the rest
	case "audio/ogg":
		return ".ogg"
	case "audio/mp4":
		return ".m4a"
	case "audio/webm":
		return ".webm"
	case "audio/3gpp", "video/3gpp":
		return ".3gp"
	case "video/mpeg":
		return ".mpg"
	case "video/x-matroska":
		return ".mkv"
	case "application/octet-stream":
		return ".bin"
	}
	if sniffed := mimetype.Lookup(base); sniffed != nil && sniffed.Extension() != "" {
		return sniffed.Extension()
	}
	return ".bin"
}

// firstName returns the first usable one of the names, made safe: without folders and
// invisible characters, and short enough for file systems.
func firstName(names ...string) string {
	for _, name := range names {
		if name = gateway.CleanFileName(name); name != "" {
			return name
		}
	}
	return ""
}
