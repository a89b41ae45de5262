package cloud_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// makeTemplate makes a template by what its POST says.
func (r *rig) makeTemplate(t *testing.T, body string) {
	t.Helper()
	if got := r.ask(t, "POST", "v22.0/"+shopNumber+"/message_templates", body); got.status != http.StatusOK || !strings.Contains(got.body, `"status":"APPROVED","category":"UTILITY"`) {
		t.Fatalf("%s is answered %d %s", body, got.status, got.body)
	}
}

// shipped is a template with everything that has parameters but a file.
const shipped = `{"name":"shipped","language":"pt_BR","category":"UTILITY","allow_category_change":true,"components":[
	{"type":"HEADER","format":"TEXT","text":"Pedido {{1}}","example":{"header_text":["1"]}},{"type":"BODY","text":"Olá {{1}}, chega {{2}}.","example":{"body_text":[["Ana","hoje"]]}},
	{"type":"BUTTONS","buttons":[{"type":"URL","text":"Ver","url":"https://u/{{1}}","example":["https://u/1"]},{"type":"COPY_CODE","example":"A1"}]}]}`

// bill has a file and names.
const bill = `{"name":"bill","language":"pt_BR","category":"utility","parameter_format":"named","components":[{"type":"header","format":"document"},{"type":"body","text":"A conta de {{customer}}"}]}`

// Templates are made, listed page by page as Chatwoot does it, and deleted in all languages.
func TestTemplates(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.makeTemplate(t, shipped)
	r.makeTemplate(t, bill)
	r.makeTemplate(t, strings.Replace(bill, "pt_BR", "en", 1))
	if got := r.ask(t, "POST", "v22.0/"+shopNumber+"/message_templates", bill); got.status != http.StatusBadRequest || got.Error.Code != 100 {
		t.Errorf("a second one is answered %d %s", got.status, got.body)
	}
	limited := "Authorization: Bearer " + newKey(t, r.Gateway, r.id)
	for method, path := range cases.Sorted(map[string]string{"POST": "/message_templates", "DELETE": "/message_templates?name=bill"}) {
		if got := r.ask(t, method, "v22.0/"+shopNumber+path, bill, limited); got.status != http.StatusForbidden || got.Error.Code != 10 {
			t.Errorf("a limited key's %s is answered %d %s", method, got.status, got.body)
		}
	}
	type page struct {
		Data []struct {
			Name       string          `json:"name"`
			Language   string          `json:"language"`
			Status     string          `json:"status"`
			Category   string          `json:"category"`
			Naming     string          `json:"parameter_format"`
			Components json.RawMessage `json:"components"`
		} `json:"data"`
		Paging struct {
			Next string `json:"next"`
		} `json:"paging"`
	}
	var found []string
	// The token is in the address alone, and has to be in that of the next page too.
	for next := "v14.0/" + shopNumber + "/message_templates?limit=1&access_token=" + r.key; next != ""; {
		got := r.ask(t, "GET", next, "", "Authorization: ")
		var read page
		if err := json.Unmarshal([]byte(got.body), &read); err != nil || got.status != http.StatusOK || len(read.Data) != 1 {
			t.Fatalf("%s is answered %d %s (%v)", next, got.status, got.body, err)
		}
		one := read.Data[0]
		found = append(found, strings.Join([]string{one.Name, one.Language, one.Status, one.Category, one.Naming, string(one.Components)}, " "))
		var ours bool
		if next, ours = strings.CutPrefix(read.Paging.Next, r.BaseURL+"/cloud/"); !ours && next != "" {
			t.Fatalf("the next page is at %s", next)
		}
	}
	const parts = `[{"type":"HEADER","format":"DOCUMENT"},{"type":"BODY","text":"A conta de {{customer}}"}]`
	want := []string{
		`shipped pt_BR APPROVED UTILITY POSITIONAL [{"type":"HEADER","format":"TEXT","text":"Pedido {{1}}"},{"type":"BODY","text":"Olá {{1}}, chega {{2}}."},{"type":"BUTTONS","buttons":[{"type":"URL","text":"Ver","url":"https://u/{{1}}"},{"type":"COPY_CODE","example":["A1"]}]}]`,
		"bill pt_BR APPROVED UTILITY NAMED " + parts, "bill en APPROVED UTILITY NAMED " + parts,
	}
	if strings.Join(found, "\n") != strings.Join(want, "\n") {
		t.Errorf("the list is\n%s", strings.Join(found, "\n"))
	}
	if got := r.ask(t, "DELETE", "v22.0/"+shopNumber+"/message_templates?name=bill", ""); got.status != http.StatusOK || got.body != `{"success":true}` {
		t.Errorf("deleting is answered %d %s", got.status, got.body)
	}
	if got := r.ask(t, "GET", "v22.0/"+shopNumber+"/message_templates?name=bill", ""); got.body != `{"data":[],"paging":{}}` {
		t.Errorf("what is left is %s", got.body)
	}
}

// Templates arrive with their parameters; parameters that don't fit are refused with Meta's numbers.
func TestTemplateMessages(t *testing.T) {
	t.Parallel()
	r, at := start(t), files(t)
	r.makeTemplate(t, shipped)
	r.makeTemplate(t, bill)
	template := func(name, components string) string {
		return `{"messaging_product":"whatsapp","to":"` + customerNumber + `","type":"template","template":{"name":"` + name + `","language":{"policy":"deterministic","code":"pt_BR"},"components":[` + components + `]}}`
	}
	const (
		above = `{"type":"header","parameters":[{"type":"text","text":"12"}]}`
		body  = `{"type":"body","parameters":[{"type":"text","text":"Ana"},{"type":"text","text":"hoje"}]}`
		link  = `{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"12"}]}`
		named = `{"type":"body","parameters":[{"type":"text","parameter_name":"customer","text":"Ana"}]}`
	)
	file := `{"type":"header","parameters":[{"type":"document","document":{"link":"` + at + `/picture.png","filename":"conta.png"}}]}`
	for name, one := range cases.Sorted(map[string]struct {
		body string
		want testkit.PhoneMessage
	}{
		"a text": {template("shipped", above+","+body+","+link), testkit.PhoneMessage{Type: "text", Text: "*Pedido 12*\n\nOlá Ana, chega hoje.\n\nVer: https://u/12\nA1"}},
		"a file": {template("bill", file+","+named), testkit.PhoneMessage{Type: "document", Caption: "A conta de Ana", FileName: "conta.png"}},
	}) {
		got := r.ask(t, "POST", "v22.0/"+shopNumber+"/messages", one.body)
		if got.status != http.StatusOK || !strings.Contains(got.body, `"message_status":"accepted"`) {
			t.Fatalf("%s is answered %d %s", name, got.status, got.body)
		}
		shown := r.Phones.AwaitMessage(t, customerNumber, got.Messages[0].ID)
		if shown.Type != one.want.Type || shown.Text != one.want.Text || shown.Caption != one.want.Caption || shown.FileName != one.want.FileName {
			t.Errorf("%s: the phone shows %+v", name, shown)
		}
	}
	for name, one := range cases.Sorted(map[string]struct {
		body         string
		status, code int
	}{
		"another language": {strings.Replace(template("bill", file+","+named), "pt_BR", "en", 1), 404, 132001},
		"too few":          {template("shipped", above+","+link), 400, 132000},
		"too many":         {template("bill", file+","+named+`,{"type":"button","sub_type":"url","index":0,"parameters":[{"type":"text","text":"1"}]}`), 400, 132000},
		"very many":        {template("bill", file+`,{"type":"body","parameters":[`+strings.Repeat(`{"type":"text","text":"x"},`, 200)+`{}]}`), 400, 132000},
		"an empty one":     {template("bill", file+`,{"type":"body","parameters":[{"type":"text","parameter_name":"customer","text":""}]}`), 400, 132012},
		"no file":          {template("bill", named), 400, 132012},
		"a file too many":  {template("shipped", file+","+body+","+link), 400, 132012},
		"not a text":       {template("bill", file+`,{"type":"body","parameters":[{"type":"image","image":{"link":"x"}}]}`), 400, 132012},
		"no such file":     {template("bill", named+`,{"type":"header","parameters":[{"type":"document","document":{"id":"`+strings.Repeat("0", 32)+`"}}]}`), 400, 131053},
	}) {
		got := r.ask(t, "POST", "v22.0/"+shopNumber+"/messages", one.body)
		if got.status != one.status || got.Error.Code != one.code || len(got.body) > 4000 {
			t.Errorf("%s is answered %d %s", name, got.status, got.body)
		}
	}
}
