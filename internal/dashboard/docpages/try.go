// What the page of an operation needs to send its request: the visitor's instances, and a key.

package docpages

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/web"
)

const (
	// maxChoice is how many instances a form offers.
	maxChoice = 200
	// keyAge is how long a key works that was made for a page.
	keyAge = 24 * time.Hour
	// keyName is its name in the list of keys.
	keyName = "API reference"
)

// Try is what requests are tried with from the pages. All of it is required.
type Try struct {
	Instances Instances
	Keys      Keys
	Sandbox   bool // what is sent reaches no people
	Now       func() time.Time
}

// Instances finds those that a key may use.
type Instances interface {
	Search(ctx context.Context, key gateway.Key, text string, page gateway.PageRequest) (gateway.Page[gateway.Instance], error)
}

// Keys makes API keys.
type Keys interface {
	CreateKey(ctx context.Context, params access.KeyParams) (key gateway.Key, secret string, err error)
}

// tryView is the form of a request.
type tryView struct {
	ID, Method, Path string
	Fields           []tryField
	HasBody          bool
	Body             string
	Key, Partner     bool // it needs a key, and one of a partner
	MakesKey         bool // the visitor may make one
	SignedIn         bool
	Destructive      bool
	Sandbox          bool
}

// tryField is a parameter in the form.
type tryField struct {
	reference.Field

	ID, Form  string
	Value     string
	Instances []gateway.Instance // to choose from; nil: it is typed
}

// view makes the form of an operation for a visitor.
func (t *Try) view(r *frame.Request, op *reference.Operation) (*tryView, error) {
	shown := &tryView{
		ID: op.ID, Method: op.Method, Path: op.Path, HasBody: op.Body != nil, Body: op.Request,
		Key: op.Audience != reference.Everybody, Partner: op.Audience == reference.Partners,
		MakesKey: r.Visitor.May(gateway.RoleOwner), SignedIn: r.Visitor.Actor.UserID != "",
		Destructive: op.Destructive, Sandbox: t.Sandbox,
	}
	for _, parameter := range op.Parameters {
		field := tryField{
			Field: parameter, ID: "try-" + parameter.Where + "-" + parameter.Name, Form: formName(parameter), Value: reference.ExampleOf(parameter),
		}
		if parameter.Name == "instanceId" && shown.SignedIn {
			found, err := t.Instances.Search(r.Context(), r.Visitor.Key, "", gateway.PageRequest{Page: 1, Limit: maxChoice})
			if err != nil {
				return nil, err
			}
			if len(found.Items) > 0 {
				field.Value = firstChoice(found.Items)
			}
			if found.Total <= maxChoice {
				field.Instances = found.Items
			}
		}
		shown.Fields = append(shown.Fields, field)
	}
	return shown, nil
}

// firstChoice is the instance that a form begins with: the first that works.
func firstChoice(instances []gateway.Instance) string {
	for _, one := range instances {
		if one.Status == gateway.StatusConnected {
			return one.ID
		}
	}
	return instances[0].ID
}

// value is what the form begins with for a parameter.
func (v *tryView) value(parameter reference.Field) string {
	for _, field := range v.Fields {
		if field.Form == formName(parameter) {
			return field.Value
		}
	}
	return ""
}

// makeKey makes a key for the pages, and answers with the field that holds it.
func (p *pages) makeKey(r *frame.Request) error {
	_, all, err := p.referenceFor()
	if err != nil {
		return err
	}
	_, op, _, _ := all.Find(r.PostFormValue("operation"))
	if op == nil || p.Try == nil {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such page")
	}
	key, secret, err := p.Try.Keys.CreateKey(r.Context(), access.KeyParams{
		AccountID: r.Visitor.Key.AccountID, Name: keyName, Partner: op.Audience == reference.Partners,
		ExpiresAt: p.Try.Now().UTC().Truncate(time.Millisecond).Add(keyAge),
	})
	if err != nil {
		return err
	}
	r.Entry.Subject = key.Name
	r.Header.Del("Accept-Encoding") // these pages are compressed because they hold no secret
	web.Notice(r.W, r.Text(web.Word("The key works for a day. It is kept in this tab alone.")))
	return r.Fragment("operation", "try-key", secret)
}
