// The stream that keeps an open page up to date.

package page

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/sandbox/feed"
	"github.com/recado-project/recado/internal/web"
)

const (
	// streamRest is the least between two looks at the phones, so that a flood of
	// messages does not become a flood of pages.
	streamRest = 40 * time.Millisecond
	// streamLook is when the page is looked at without a change, because people stop
	// typing and bans end by themselves.
	streamLook = 5 * time.Second
	// maxSeen bounds what the browser says it has seen.
	maxSeen = 32
)

// stream sends the parts of the page that change, until the browser leaves or the
// program stops.
func (p *Page) stream(r *request) error {
	at := placeOf(r.URL.Query())
	// Before the first look: a change after it is not missed.
	changes := p.config.Bell.WatchAll()
	defer changes.Close()
	stream, err := web.NewStream(r.w)
	if err != nil {
		return nil // the browser has gone
	}
	live := &liveView{page: p, at: at, lang: r.lang(), seen: map[string]bool{}}
	for _, part := range r.URL.Query()["seen"][:min(len(r.URL.Query()["seen"]), maxSeen)] {
		live.seen[part] = true
	}
	sign := time.NewTicker(web.StreamPause)
	defer sign.Stop()
	for {
		news, err := live.news(r.Context())
		if err != nil && r.Context().Err() == nil {
			p.config.Logger.LogAttrs(r.Context(), slog.LevelError, "the phone page could not be kept up to date", slog.Any("error", err))
		}
		if err != nil || len(news) > 0 && stream.Send("view", news) != nil {
			return nil
		}
		if !p.wait(r.Context(), stream, changes, sign.C) {
			return nil
		}
	}
}

// wait returns true when it is time for another look, and false when the stream is over.
func (p *Page) wait(ctx context.Context, stream *web.Stream, changes *feed.Watcher, sign <-chan time.Time) bool {
	rest, look := time.NewTimer(streamRest), time.NewTimer(streamLook)
	defer rest.Stop()
	defer look.Stop()
	rested, changed := false, false
	for {
		select {
		case <-changes.Changed():
			changed = true
		case <-rest.C:
			rested = true
		case <-look.C:
			return true
		case <-sign:
			if stream.SignOfLife() != nil {
				return false
			}
		case <-ctx.Done():
			return false
		case <-p.config.Stopping:
			return false
		}
		if rested && changed {
			return true
		}
	}
}

// liveView is the page as one browser has it.
type liveView struct {
	page *Page
	at   place
	lang string
	seen map[string]bool   // at first: the parts that the browser has, by their short names
	last map[string][]byte // then: the parts by their IDs
}

// news returns the parts that the browser does not have.
func (l *liveView) news(ctx context.Context) ([]byte, error) {
	shown, err := l.page.view(ctx, l.at)
	if err != nil {
		return nil, err
	}
	// What was opened by itself stays open: nothing jumps under the reader.
	l.at = shown.Place
	parts, err := l.page.fragments(l.lang, shown)
	if err != nil {
		return nil, err
	}
	var news bytes.Buffer
	had := l.last
	l.last = make(map[string][]byte, len(parts))
	for _, part := range parts {
		l.last[part.ID] = part.HTML
		if bytes.Equal(had[part.ID], part.HTML) || had == nil && l.seen[part.seen()] {
			continue
		}
		news.Write(part.HTML)
	}
	return news.Bytes(), nil
}
