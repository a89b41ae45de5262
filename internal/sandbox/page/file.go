// The files and the long texts of messages.

package page

import (
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/web/bubbles"
)

// shownTypes are the files that browsers may show by themselves: none of them can hold a
// script. Others are only saved.
func shownTypes() map[string]bool {
	return map[string]bool{
		"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/bmp": true,
		"audio/mpeg": true, "audio/ogg": true, "audio/mp4": true, "audio/aac": true, "audio/wav": true, "audio/x-wav": true,
		"audio/webm": true, "audio/amr": true, "video/mp4": true, "video/webm": true, "video/ogg": true, "video/3gpp": true,
		"video/quicktime": true,
	}
}

// file answers with the file of a message, as the phone has decrypted it. Its sender may
// be anybody, so it never becomes a page.
func (p *Page) file(r *request) error {
	at, err := r.place()
	if err != nil {
		return err
	}
	file, err := p.config.Phones.File(r.Context(), r.number(), at)
	if err != nil {
		return err
	}
	defer func() { _ = file.Content.Close() }() // it was only read
	header := r.w.Header()
	kind, _, err := mime.ParseMediaType(file.MimeType)
	disposition := "inline"
	if err != nil || !shownTypes()[kind] {
		kind, disposition = "application/octet-stream", "attachment"
	}
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": fileName(file.Name)}))
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'")
	header.Set("Cache-Control", "private, no-cache")
	http.ServeContent(r.w, r.Request, "", time.Time{}, file.Content)
	return nil
}

// fileName is a name under which a file may be saved.
func fileName(text string) string {
	kept := strings.Map(func(letter rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, letter) {
			return '_'
		}
		return letter
	}, bubbles.Line(text, bubbles.MaxName))
	return bubbles.Name(strings.Trim(kept, ". "), "file")
}

// text answers with the whole text of a message.
func (p *Page) text(r *request) error {
	m, err := p.message(r)
	if err != nil {
		return err
	}
	r.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	r.w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(r.w, strings.ToValidUTF8(m.Text+m.Caption, "\ufffd")) // the browser may be gone
	return nil
}
