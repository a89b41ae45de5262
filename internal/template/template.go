// Package template has the templates of accounts: messages whose words are settled beforehand, and whose parameters
// come with each one that is sent. They are the gateway's own: nobody has to approve them, and what goes out is a
// message like every other. It knows nothing of how messages are sent.
//
// Files hold what they are named after: check.go says which templates can be used, render.go makes the text of one.
package template

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// MaxTemplates is how many templates an account has, each language of one counted.
const MaxTemplates = 500

// Template is a message that is prepared, in one language.
type Template struct {
	ID        string // decimal digits, as programs expect that were written for Meta's API
	AccountID string
	Name      string
	Language  string
	Category  string
	// Parameters says what the parameters are called.
	Parameters Naming
	Components []Component
	CreatedAt  time.Time
}

// Naming is what the parameters of a template are called.
type Naming string

// What parameters can be called.
const (
	Positional Naming = "POSITIONAL" // {{1}}, {{2}}
	Named      Naming = "NAMED"      // {{customer}}
)

// Part is what a component is.
type Part string

// The parts of a template; each is there once at most, and the body always.
const (
	Header  Part = "HEADER"
	Body    Part = "BODY"
	Footer  Part = "FOOTER"
	Buttons Part = "BUTTONS"
)

// Format is what a header is made of.
type Format string

// What headers are made of. Those that are no text are a file, which comes with each message.
const (
	FormatText     Format = "TEXT"
	FormatImage    Format = "IMAGE"
	FormatVideo    Format = "VIDEO"
	FormatDocument Format = "DOCUMENT"
)

// Component is a part of a template.
type Component struct {
	Part    Part     `json:"type"`
	Format  Format   `json:"format,omitempty"` // of a header
	Text    string   `json:"text,omitempty"`
	Buttons []Button `json:"buttons,omitempty"`
}

// Does is what a button does.
type Does string

// What buttons do. Phones show none that a linked device sends, so they are lines of the text.
const (
	QuickReply Does = "QUICK_REPLY"
	OpenURL    Does = "URL"
	Call       Does = "PHONE_NUMBER"
	CopyCode   Does = "COPY_CODE"
)

// Button is a button of a template.
type Button struct {
	Does        Does   `json:"type"`
	Text        string `json:"text,omitempty"`
	URL         string `json:"url,omitempty"`
	PhoneNumber string `json:"phoneNumber,omitempty"`
	Example     string `json:"example,omitempty"` // of a code: what is sent if no other is given
}

// Store keeps templates.
type Store interface {
	// AddTemplate adds a template. If the account has one with the name and the language it is a
	// gateway.Conflict.
	AddTemplate(ctx context.Context, added Template) error
	// ListTemplates returns a page of the templates of an account, oldest first; with a name, those alone
	// that have it.
	ListTemplates(ctx context.Context, accountID, name string, page gateway.PageRequest) (gateway.Page[Template], error)
	// FindTemplate returns a template by its name and language, and whether there is one.
	FindTemplate(ctx context.Context, accountID, name, language string) (Template, bool, error)
	// DeleteTemplate removes a template by its ID, and reports whether there was one.
	DeleteTemplate(ctx context.Context, accountID, id string) (bool, error)
}

// Config is what the service stands on. Now may be left out.
type Config struct {
	Store Store
	Now   func() time.Time // nil: the wall clock
}

// Service is the use cases of templates. It is safe for concurrent use.
type Service struct {
	config Config
	adding sync.Mutex // an account must not get too many
}

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("template", config, "Now"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Service{config: config}, nil
}

// Create adds a template to the account that it names, and returns it with its ID. A template that can't be used is
// a gateway.Invalid that names the field; an account with MaxTemplates, or one that has the name in this language, is
// a gateway.Conflict.
func (s *Service) Create(ctx context.Context, made Template) (Template, error) {
	if made.Category == "" {
		made.Category = "UTILITY"
	}
	if made.Parameters == "" {
		made.Parameters = namingOf(made.Components)
	}
	if err := made.check(); err != nil {
		return Template{}, err
	}
	id, err := newID()
	if err != nil {
		return Template{}, err
	}
	made.ID, made.CreatedAt = id, s.config.Now().UTC().Truncate(time.Millisecond)
	s.adding.Lock()
	defer s.adding.Unlock()
	page, err := s.config.Store.ListTemplates(ctx, made.AccountID, "", gateway.PageRequest{Page: 1, Limit: 1})
	if err != nil {
		return Template{}, fmt.Errorf("template: create: %w", err)
	}
	if page.Total >= MaxTemplates {
		return Template{}, gateway.Errorf(gateway.Conflict, gateway.CodeTemplateLimit, "the account has %d templates already; delete one first", page.Total)
	}
	if err := s.config.Store.AddTemplate(ctx, made); err != nil {
		return Template{}, fmt.Errorf("template: create: %w", err)
	}
	return made, nil
}

// idDigits is how long an ID is.
const idDigits = 16

// newID chooses an ID, which begins with no zero.
func newID() (string, error) {
	least := new(big.Int).Exp(big.NewInt(10), big.NewInt(idDigits-1), nil)  //nolint:mnd // decimal digits
	n, err := rand.Int(rand.Reader, new(big.Int).Mul(least, big.NewInt(9))) //nolint:mnd // as above
	if err != nil {
		return "", fmt.Errorf("template: choose an ID: %w", err)
	}
	return n.Add(n, least).String(), nil
}

// List returns a page of the templates of an account, oldest first; with a name, those alone that have it.
func (s *Service) List(ctx context.Context, accountID, name string, page gateway.PageRequest) (gateway.Page[Template], error) {
	if name != "" && !goodName.MatchString(name) {
		return gateway.Page[Template]{}, nil
	}
	found, err := s.config.Store.ListTemplates(ctx, accountID, name, page)
	if err != nil {
		return found, fmt.Errorf("template: list: %w", err)
	}
	return found, nil
}

// Find returns a template by its name and language, or a gateway.NotFound.
func (s *Service) Find(ctx context.Context, accountID, name, language string) (Template, error) {
	if !goodName.MatchString(name) || !goodLanguage.MatchString(language) {
		return Template{}, notFound()
	}
	found, there, err := s.config.Store.FindTemplate(ctx, accountID, name, language)
	if err != nil {
		return found, fmt.Errorf("template: find: %w", err)
	}
	if !there {
		return found, notFound()
	}
	return found, nil
}

// Delete removes a template, or returns a gateway.NotFound.
func (s *Service) Delete(ctx context.Context, accountID, id string) error {
	deleted, err := s.config.Store.DeleteTemplate(ctx, accountID, id)
	if err != nil {
		return fmt.Errorf("template: delete: %w", err)
	}
	if !deleted {
		return notFound()
	}
	return nil
}

func notFound() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeTemplateNotFound, "the account has no such template, or not in this language")
}

// component returns a part of the template; an empty one if it has none.
func (t *Template) component(part Part) Component {
	for _, c := range t.Components {
		if c.Part == part {
			return c
		}
	}
	return Component{}
}

// namingOf is what the parameters of components are called.
func namingOf(components []Component) Naming {
	for _, c := range components {
		for _, name := range placeholders(c.Text) {
			if strings.Trim(name, "0123456789") != "" {
				return Named
			}
		}
	}
	return Positional
}
