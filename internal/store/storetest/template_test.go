// The templates of accounts.

package storetest

import (
	"reflect"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/template"
)

func testTemplates(t *testing.T, f *fixture) {
	t.Helper()
	account, other := f.account(), f.account()
	add := func(n int, accountID, name, language string) template.Template {
		t.Helper()
		added := template.Template{
			ID: newID(), AccountID: accountID, Name: name, Language: language, Category: "UTILITY", Parameters: template.Named, CreatedAt: after(n),
			Components: []template.Component{
				{Part: template.Header, Format: template.FormatImage},
				{Part: template.Body, Text: "Olá {{nome}} \U0001f44b"},
				{Part: template.Buttons, Buttons: []template.Button{{Does: template.OpenURL, Text: "Ver", URL: "https://example.org/{{1}}"}}},
			},
		}
		f.check(f.Templates.AddTemplate(f.ctx(), added))
		return added
	}
	first, second, third := add(1, account.ID, "order", "pt_BR"), add(2, account.ID, "order", "en"), add(3, account.ID, "survey", "en")
	elsewhere := add(4, other.ID, "order", "en")

	double := second
	double.ID = newID()
	wantKind(t, f.Templates.AddTemplate(f.ctx(), double), gateway.Conflict, gateway.CodeTemplateExists)
	double.AccountID = newID()
	wantKind(t, f.Templates.AddTemplate(f.ctx(), double), gateway.NotFound, gateway.CodeNotFound)

	list := func(name string, page, limit, total int, want ...template.Template) {
		t.Helper()
		got, err := f.Templates.ListTemplates(f.ctx(), account.ID, name, gateway.PageRequest{Page: page, Limit: limit})
		f.check(err)
		if got.Total != total || !reflect.DeepEqual(got.Items, want) {
			t.Errorf("listed %+v, want %d: %+v", got, total, want)
		}
	}
	list("", 1, 10, 3, first, second, third)
	list("order", 1, 10, 2, first, second)
	list("order", 2, 1, 2, second)

	if got, found, err := f.Templates.FindTemplate(f.ctx(), account.ID, "order", "en"); err != nil || !found || !reflect.DeepEqual(got, second) {
		t.Errorf("found %v %+v (%v), want %+v", found, got, err, second)
	}
	if _, found, err := f.Templates.FindTemplate(f.ctx(), account.ID, "survey", "pt_BR"); found || err != nil {
		t.Errorf("found %v, %v in another language", found, err)
	}
	if deleted, err := f.Templates.DeleteTemplate(f.ctx(), account.ID, elsewhere.ID); deleted || err != nil {
		t.Errorf("deleted %v, %v of another account", deleted, err)
	}
	if deleted, err := f.Templates.DeleteTemplate(f.ctx(), account.ID, first.ID); !deleted || err != nil {
		t.Errorf("deleted %v, %v", deleted, err)
	}
	list("order", 1, 10, 1, second)
}
