// The languages in which events are posted.

package webhook

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
)

// FormatRecado is the gateway's own language, the envelope of docs/events.md. A webhook without a format
// has it.
const FormatRecado = "recado"

// Format is another language in which events are posted. It is safe for concurrent use.
type Format interface {
	// Body returns what is posted for an event of an instance, and what is added to the path of the
	// endpoint, mostly nothing. link leads to the file of the event's message without a key; it is empty
	// where there is none. file is that file in base64; it is nil unless TakesFiles, and where it can't be
	// had. ok is false where the language has no word for the event: nothing is posted.
	Body(of gateway.Instance, event eventlog.Event, link string, file []byte) (path string, body []byte, ok bool)
	// TakesFiles reports whether the files of messages are part of what is posted.
	TakesFiles() bool
	// Signs reports whether the language has a signature of its own.
	Signs() bool
	// SetHeaders makes the headers of a request at a time those of the language, beginning with those that it has, the
	// webhook's own among them. A signature is made with the secret of the webhook, or with that of its account where it
	// has none; that is empty where none is set.
	SetHeaders(header http.Header, at time.Time, secret string, body []byte)
	// Refuses reports whether an endpoint that answers so does not know this kind of event. The event is
	// given up at once, and holds up nothing.
	Refuses(status int) bool
}

// Instances finds instances, for what a format says of them.
type Instances interface {
	GetInstance(ctx context.Context, id string) (gateway.Instance, error)
}

// Accounts finds what formats need of accounts.
type Accounts interface {
	// AppSecret returns the secret that signs where a webhook has none, and when it was set; empty: there
	// is none.
	AppSecret(ctx context.Context, accountID string) (secret string, at time.Time, err error)
}

// Formats returns the names of all formats that a webhook may have, FormatRecado first.
func (s *Service) Formats() []string {
	return append([]string{FormatRecado}, slices.Sorted(maps.Keys(s.formats))...)
}

// checkFormat says what is wrong with the name of a format; empty for nothing.
func (s *Service) checkFormat(name string) string {
	if all := s.Formats(); !slices.Contains(all, name) {
		return "must be one of " + strings.Join(all, ", ")
	}
	return ""
}

// posting is what is posted for an event.
type posting struct {
	path   string
	body   []byte
	secret string       // with which the format signs
	memory *share.Taken // of the file in it, which the caller releases
}

// posting returns what is posted there for an event. ok is false for nothing.
func (t *target) posting(ctx context.Context, event eventlog.Event) (p posting, ok bool, err error) {
	if t.format == nil {
		return posting{body: t.body(event)}, true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	of, err := t.instances.GetInstance(ctx, event.InstanceID)
	if err != nil {
		return p, false, err
	}
	link := ""
	if t.links != nil {
		if made := mediaLinkOf(t.links, event); made != nil {
			link = made.URL
		}
	}
	var file []byte
	if t.files != nil && t.format.TakesFiles() {
		file, p.memory = t.files.read(ctx, of, event)
	}
	if p.path, p.body, ok = t.format.Body(of, event, link, file); !ok {
		return p, false, nil
	}
	p.secret = t.secret
	if p.secret == "" && t.format.Signs() {
		// It is read for each delivery: a change counts for the next one, on every node.
		if p.secret, _, err = t.accounts.AppSecret(ctx, of.AccountID); err != nil {
			return p, false, err
		}
	}
	return p, true, nil
}
