// The API keys of the account.

package dashboard

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

const (
	// keysAtOnce is how many rows a page of the table has.
	keysAtOnce = 50
	// maxChoice is how many instances the form of a new key offers; a search finds the others.
	maxChoice = 200
	// maxScope is how many instances a key can be limited to, as in the API.
	maxScope = 1_000
	// maxKeyDays bounds how long a key that ends may work.
	maxKeyDays = 3_660
)

// keysView is the table of keys.
type keysView struct {
	Rows          []keyRow
	Total         int
	Before, After string // the first page and the next one; empty for none
}

// keyRow is one line of the table.
type keyRow struct {
	Key gateway.Key

	State state
	Names []string // of the instances in its scope that still exist
	Valid bool
}

// showKeys shows the table.
func (p *pages) showKeys(r *frame.Request) error {
	page := frame.PageOf(r.URL.Query())
	keys, total, err := p.newestKeys(r.Context(), r.Visitor.Key.AccountID, page)
	if err != nil {
		return err
	}
	view := keysView{Total: total}
	names, err := p.namesOf(r.Context(), r.Visitor.Key, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		row := keyRow{Key: key, State: p.keyState(key), Valid: key.Valid(p.Now())}
		for _, id := range key.InstanceIDs {
			if name, ok := names[id]; ok {
				row.Names = append(row.Names, name)
			}
		}
		view.Rows = append(view.Rows, row)
	}
	view.Before, view.After = frame.Around("/keys", nil, page, keysAtOnce, total)
	return r.Page("keys", frame.View{Title: r.Text(web.Word("API keys")), Section: "keys", Body: view})
}

// newestKeys returns a page of the account's keys, the newest first. The list is the other
// way round, so a page lies on two of its pages.
func (p *pages) newestKeys(ctx context.Context, accountID string, page int) (keys []gateway.Key, total int, err error) {
	first, err := p.Access.ListKeys(ctx, accountID, gateway.PageRequest{Page: 1, Limit: 1})
	if err != nil {
		return nil, 0, err
	}
	total = first.Total
	end := total - (page-1)*keysAtOnce // the first key after those of the page, counted from the oldest
	if end <= 0 {
		return nil, total, nil
	}
	begin := max(end-keysAtOnce, 0)
	for number := begin / keysAtOnce; number*keysAtOnce < end; number++ {
		part, err := p.Access.ListKeys(ctx, accountID, gateway.PageRequest{Page: number + 1, Limit: keysAtOnce})
		if err != nil {
			return nil, 0, err
		}
		for n, key := range part.Items {
			if place := number*keysAtOnce + n; place >= begin && place < end {
				keys = append(keys, key)
			}
		}
	}
	slices.Reverse(keys)
	return keys, total, nil
}

// namesOf returns the names of the instances that keys are limited to, by their ids.
func (p *pages) namesOf(ctx context.Context, own gateway.Key, keys []gateway.Key) (map[string]string, error) {
	var ids []string
	for _, key := range keys {
		ids = append(ids, key.InstanceIDs...)
	}
	slices.Sort(ids)
	some, err := p.Instances.Some(ctx, own, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, one := range some {
		names[one.ID] = one.Name
	}
	return names, nil
}

// keyState says whether a key works.
func (p *pages) keyState(key gateway.Key) state {
	switch {
	case !key.RevokedAt.IsZero():
		return state{"", web.Word("Revoked"), web.Word("This key was revoked. Requests with it are refused."), ""}
	case !key.Valid(p.Now()):
		return state{"", web.Word("Expired"), web.Word("This key has expired. Requests with it are refused."), ""}
	default:
		return state{"good", web.Word("Valid"), web.Word("Requests with this key are accepted."), ""}
	}
}

// newKeyView is the form of a new key.
type newKeyView struct {
	Search    string
	Instances []gateway.Instance
	More      int // instances that are not offered
}

// showNewKey shows the form of a new key.
func (p *pages) showNewKey(r *frame.Request) error {
	search := searchOf(r).Get("search")
	found, err := p.Instances.Search(r.Context(), r.Visitor.Key, search, gateway.PageRequest{Page: 1, Limit: maxChoice})
	if err != nil {
		return err
	}
	return r.Page("key_new", frame.View{Title: r.Text(web.Word("New API key")), Section: "keys", Body: newKeyView{
		Search: search, Instances: found.Items, More: found.Total - len(found.Items),
	}})
}

// madeKey is a new key with its secret, which is shown once.
type madeKey struct {
	Key gateway.Key

	Secret string
}

// createKey makes a key, and shows its secret.
func (p *pages) createKey(r *frame.Request) error {
	params, err := p.keyIn(r)
	if err != nil {
		return err
	}
	key, secret, err := p.Access.CreateKey(r.Context(), params)
	if err != nil {
		return err
	}
	r.Entry.Subject = key.Name
	return r.Page("key_made", frame.View{Title: key.Name, Section: "keys", Body: madeKey{Key: key, Secret: secret}})
}

// keyIn reads the form of a new key.
func (p *pages) keyIn(r *frame.Request) (access.KeyParams, error) {
	if err := r.ParseForm(); err != nil {
		return access.KeyParams{}, gateway.Errorf(gateway.Invalid, gateway.CodeValidation, "the form can't be read")
	}
	params := access.KeyParams{
		AccountID: r.Visitor.Key.AccountID, Name: strings.TrimSpace(r.PostFormValue("name")), Partner: r.PostFormValue("partner") != "",
	}
	var wrong []gateway.FieldError
	if params.Name == "" || gateway.CleanName(params.Name) != params.Name || utf8.RuneCountInString(params.Name) > maxInstanceName {
		wrong = append(wrong, gateway.FieldError{Field: "name", Message: "must have 1 to 255 visible characters"})
	}
	if r.PostFormValue("scope") != "all" {
		ids := slices.Compact(slices.Sorted(slices.Values(r.PostForm["instance"])))
		some, err := p.Instances.Some(r.Context(), r.Visitor.Key, ids)
		if err != nil {
			return params, err
		}
		// Without any the key would reach every instance.
		if len(ids) == 0 || len(ids) > maxScope || len(some) != len(ids) {
			wrong = append(wrong, gateway.FieldError{Field: "instance", Message: "choose at least one of the instances"})
		}
		params.InstanceIDs = ids
	}
	if days := r.PostFormValue("days"); days != "" {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > maxKeyDays {
			wrong = append(wrong, gateway.FieldError{Field: "days", Message: "must be a number of days"})
		}
		params.ExpiresAt = p.Now().UTC().Truncate(time.Millisecond).AddDate(0, 0, n)
	}
	if len(wrong) > 0 {
		return params, gateway.InvalidFields(wrong...)
	}
	return params, nil
}

// revokeKey ends a key at once.
func (p *pages) revokeKey(r *frame.Request) error {
	id := r.PathValue("keyId")
	if err := p.Access.RevokeKeyWithin(r.Context(), r.Visitor.Key, id); err != nil {
		return err
	}
	r.Entry.Subject = id
	return r.Go("/keys")
}
