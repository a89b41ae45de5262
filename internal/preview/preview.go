// Package preview finds out what phones show below a text with a link: the title, a
// description and a small picture of its page. It reads pages that strangers wrote, so
// everything is bounded, and a send never waits long for it. The use cases of a message call
// it; package media fetches.
package preview

import (
	"context"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/share"
)

const (
	// defaultTimeout bounds how long a send waits, for the page and its picture together.
	defaultTimeout = 5 * time.Second
	// atOnce is how many previews are made at the same time. Texts beyond it have none, and an account
	// never makes all of them.
	atOnce = 16
)

// Web fetches pages and pictures; media.Service implements it.
type Web interface {
	Page(ctx context.Context, address *url.URL) (*media.Page, error)
	PagePicture(ctx context.Context, address *url.URL) ([]byte, error)
}

// Config is what a Finder stands on.
type Config struct {
	Web     Web
	Timeout time.Duration // for one preview; 0 means 5 seconds
	Logger  *slog.Logger
}

// Finder finds previews. It is safe for concurrent use.
type Finder struct {
	config Config
	places *share.Pool
}

// New makes a finder.
func New(config Config) (*Finder, error) {
	if err := required.Check("preview", config); err != nil {
		return nil, err
	}
	if config.Timeout == 0 {
		config.Timeout = defaultTimeout
	}
	return &Finder{config: config, places: share.New(share.Config{
		Name: "previews", Total: atOnce, What: "previews of links being made", Advice: "wait a moment",
	})}, nil
}

// Pool is what previews that are made at the same time share.
func (f *Finder) Pool() *share.Pool { return f.places }

// Find returns the preview of the first link in a text; nil if there is no link, or its page
// can't be had in time. Then the text is sent without one.
func (f *Finder) Find(ctx context.Context, text string) *gateway.LinkPreview {
	link, address := firstLink(text)
	if address == nil {
		return nil
	}
	place, err := f.places.Take(ctx, 1)
	if err != nil {
		f.config.Logger.WarnContext(ctx, "text is sent without the preview of its link", slog.Any("error", err),
			slog.String("account_id", gateway.RequesterOf(ctx).AccountID))
		return nil
	}
	defer place.Release()
	ctx, cancel := context.WithTimeout(ctx, f.config.Timeout)
	defer cancel()
	found, err := f.read(ctx, address)
	if err != nil {
		f.config.Logger.DebugContext(ctx, "link without preview", slog.Any("error", err))
	}
	title := gateway.CleanName(found.title)
	if title == "" {
		return nil
	}
	preview := &gateway.LinkPreview{URL: link, Title: title, Description: gateway.CleanDescription(found.description)}
	if found.picture == nil {
		return preview
	}
	if preview.Thumbnail, err = f.config.Web.PagePicture(ctx, found.picture); err != nil {
		f.config.Logger.DebugContext(ctx, "preview without picture", slog.Any("error", err))
	}
	return preview
}

// read requests a page and reads its head.
func (f *Finder) read(ctx context.Context, address *url.URL) (head, error) {
	page, err := f.config.Web.Page(ctx, address)
	if err != nil {
		return head{}, err
	}
	defer page.Close()
	return readHead(page.Body, page.Type, page.URL)
}

var link = regexp.MustCompile(`(?i)https?://[^\s<>"]+`)

// maxLink bounds the length of a link that has a preview, in bytes.
const maxLink = 2048

// firstLink returns the first link in a text, as it stands there and as it is fetched.
func firstLink(text string) (string, *url.URL) {
	found := strings.TrimRight(link.FindString(text), ".,;:!?'*_~")
	if !strings.Contains(found, "(") {
		found = strings.TrimRight(found, ").,;:!?]}")
	}
	address, ok := gateway.ParseURL(found)
	if !ok || len(found) > maxLink || address.User != nil {
		return "", nil
	}
	return found, address
}
