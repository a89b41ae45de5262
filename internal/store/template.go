// The table of the templates of accounts.

package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/template"
)

// Templates is the table of templates. It is safe for concurrent use.
type Templates struct{ db table.Database }

// templateRow is a template, as its row has it.
type templateRow struct {
	kept       template.Template
	components string
}

//nolint:gochecknoglobals // a table
var templateColumns = table.Of(
	table.Text("id", func(r *templateRow) *string { return &r.kept.ID }),
	table.Text("account_id", func(r *templateRow) *string { return &r.kept.AccountID }),
	table.Text("name", func(r *templateRow) *string { return &r.kept.Name }),
	table.Text("language", func(r *templateRow) *string { return &r.kept.Language }),
	table.Text("category", func(r *templateRow) *string { return &r.kept.Category }),
	table.Text("parameters", func(r *templateRow) *template.Naming { return &r.kept.Parameters }),
	table.Text("components", func(r *templateRow) *string { return &r.components }),
	table.Moment("created_at", func(r *templateRow) *time.Time { return &r.kept.CreatedAt }),
)

func scanTemplate(from table.Scanner) (template.Template, error) {
	r, err := templateColumns.Scan(from)
	if err != nil {
		return r.kept, err
	}
	if err := json.Unmarshal([]byte(r.components), &r.kept.Components); err != nil {
		return r.kept, fmt.Errorf("the template %s is damaged: %w", r.kept.ID, err)
	}
	return r.kept, nil
}

// AddTemplate adds a template. If the account has one with the name and the language it is a gateway.Conflict, and if
// there is no such account a gateway.NotFound.
func (t *Templates) AddTemplate(ctx context.Context, added template.Template) error {
	components, err := json.Marshal(added.Components)
	if err != nil {
		return fmt.Errorf("store: add a template: %w", err)
	}
	_, err = t.db.Exec(ctx, templateColumns.Insert("templates"), templateColumns.Values(&templateRow{added, string(components)})...)
	switch {
	case sqlerror.IsTaken(err):
		return gateway.Errorf(gateway.Conflict, gateway.CodeTemplateExists, "the account has a template with this name in this language already")
	case sqlerror.IsOrphan(err):
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such account")
	}
	table.Wrap(&err, "add a template")
	return err
}

// ListTemplates returns a page of the templates of an account, oldest first; with a name, those alone that have it.
func (t *Templates) ListTemplates(ctx context.Context, accountID, name string, request gateway.PageRequest) (_ gateway.Page[template.Template], err error) {
	defer table.Wrap(&err, "list templates")
	from, args := "FROM templates WHERE account_id = $1", []any{accountID}
	if name != "" {
		from, args = from+" AND name = $2", append(args, name)
	}
	return table.List(ctx, t.db.Reader(), scanTemplate, request, templateColumns.Names, from, args...)
}

// FindTemplate returns a template by its name and language, and whether there is one.
func (t *Templates) FindTemplate(ctx context.Context, accountID, name, language string) (_ template.Template, found bool, err error) {
	defer table.Wrap(&err, "find a template")
	return table.Find(ctx, t.db.Reader(), scanTemplate, "SELECT "+templateColumns.Names+" FROM templates WHERE account_id = $1 AND name = $2 AND language = $3", accountID, name, language)
}

// DeleteTemplate removes a template by its ID, and reports whether there was one.
func (t *Templates) DeleteTemplate(ctx context.Context, accountID, id string) (_ bool, err error) {
	defer table.Wrap(&err, "delete a template")
	removed, err := t.db.Exec(ctx, "DELETE FROM templates WHERE account_id = $1 AND id = $2", accountID, id)
	return removed > 0, err
}
