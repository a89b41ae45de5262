package media

import (
	"path"
	"strings"
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
	for _, usual := range []string{".csv", ".ofx", ".ics", ".vcf", ".md"} { // which mimetype does not know
		if typesOf[usual] == base {
			return usual
		}
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

// typesOf are the types of documents whose content does not tell them, by their extension.
//
//nolint:gochecknoglobals // a table that nobody writes
var typesOf = map[string]string{
	".csv": "text/csv", ".tsv": "text/tab-separated-values", ".ofx": "application/x-ofx", ".ics": "text/calendar", ".vcf": "text/vcard",
	".md": "text/markdown", ".html": "text/html", ".htm": "text/html", ".xml": "application/xml", ".json": "application/json",
	".apk": "application/vnd.android.package-archive", ".ipa": "application/octet-stream", ".sql": "application/sql", ".yaml": "application/yaml",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".odt":  "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
	".epub": "application/epub+zip", ".kmz": "application/vnd.google-earth.kmz", ".dwg": "image/vnd.dwg", ".p12": "application/x-pkcs12",
}

// documentType is the type of a document: that of its content, unless many kinds of documents begin
// as this one does. Then what was declared counts, and then the extension of its name.
func documentType(sniffed, declared, name string) string {
	switch sniffed {
	case "text/plain", "application/octet-stream", "application/zip":
	default:
		return sniffed
	}
	declared, _ = declaredType(declared)
	for _, candidate := range []string{declared, typesOf[strings.ToLower(path.Ext(name))]} {
		switch candidate {
		// What servers and programs write that don't know it either.
		case "", "text/plain", "application/octet-stream", "application/zip", "binary/octet-stream", "application/force-download",
			"application/download", "application/x-download", "application/x-zip-compressed", "application/unknown", "multipart/form-data":
			continue
		}
		if fitsSniffed(sniffed, candidate) {
			return candidate
		}
	}
	return sniffed
}

// fitsSniffed reports whether content of a type may begin as it does: a picture does not begin as a
// text, and a text is no archive.
func fitsSniffed(sniffed, candidate string) bool {
	family, _, _ := strings.Cut(candidate, "/")
	switch sniffed {
	case "text/plain":
		return family == "text" || family == "application"
	case "application/zip":
		return family == "application"
	default:
		return family != "text"
	}
}

// scripts are the extensions of what makes a file, and is none.
//
//nolint:gochecknoglobals // a table that nobody writes
var scripts = map[string]bool{".php": true, ".asp": true, ".aspx": true, ".ashx": true, ".jsp": true, ".do": true, ".action": true, ".cgi": true, ".pl": true}

// maxExtension is how long an extension is, with its dot, that a program understands.
const maxExtension = 12

// withExtension gives a name an extension that fits the type, without which phones can't open the
// file. One that there is stays.
func withExtension(name, mimeType string) string {
	usual := extension(mimeType)
	if usual == ".bin" {
		return name
	}
	last := strings.ToLower(path.Ext(name))
	if scripts[last] && usual != ".txt" && usual != ".html" {
		return name[:len(name)-len(last)] + usual
	}
	if len(last) > 1 && len(last) <= maxExtension && strings.ContainsAny(last, "abcdefghijklmnopqrstuvwxyz") && !strings.ContainsAny(last, " _") {
		return name
	}
	return name + usual
}
