package template

import (
	"strings"
	"testing"
	"unicode"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// order has every part.
func order() Template {
	return Template{Name: "order_shipped", Language: "pt_BR", Category: "UTILITY", Parameters: Positional, Components: []Component{
		{Part: Header, Format: FormatText, Text: "Pedido {{1}}"},
		{Part: Body, Text: "Olá {{1}}, o pedido {{2}} saiu.\nObrigado, {{ 1 }}!"},
		{Part: Footer, Text: "Loja da Ana"},
		{Part: Buttons, Buttons: []Button{
			{Does: QuickReply, Text: "Recebi"},
			{Does: OpenURL, Text: "Acompanhar", URL: "https://shop.example/orders/{{1}}"},
			{Does: Call, Text: "Ligar", PhoneNumber: "+5511999990100"},
			{Does: CopyCode, Example: "ANA10"},
			{Does: QuickReply, Text: "Não recebi"},
		}},
	}}
}

func body(text string) Template {
	return Template{Name: "a", Language: "en", Category: "UTILITY", Parameters: namingOf([]Component{{Text: text}}), Components: []Component{{Part: Body, Text: text}}}
}

func withHeader(format Format) Template {
	made := body("Oi {{nome}}")
	made.Components = append(made.Components, Component{Part: Header, Format: format})
	return made
}

// fieldsOf are the fields that an error names.
func fieldsOf(t *testing.T, err error) (fields []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	refused, ok := err.(*gateway.Error) //nolint:errorlint // it is not wrapped
	if !ok || refused.Kind != gateway.Invalid {
		t.Fatalf("the error is %v", err)
	}
	for _, field := range refused.Fields {
		fields = append(fields, field.Field)
	}
	return fields
}

func TestRender(t *testing.T) {
	t.Parallel()
	type test struct {
		template Template
		given    Parameters
		text     string
		file     Format
		wrong    string
	}
	lines := func(given Parameters) Parameters {
		given.NoPoll = true
		return given
	}
	whole := Parameters{Header: map[string]string{"1": "77"}, Body: map[string]string{"1": "Ana", "2": "77"}, Buttons: map[string]string{"1": "77?a=b"}}
	for name, test := range cases.Sorted(map[string]test{
		"every part": {
			order(), lines(whole),
			"*Pedido 77*\n\nOlá Ana, o pedido 77 saiu.\nObrigado, Ana!\n\n" +
				"Acompanhar: https://shop.example/orders/77?a=b\nLigar: +5511999990100\nANA10\n1. Recebi\n2. Não recebi\n\n_Loja da Ana_", FormatText, "",
		},
		"another code": {
			order(),
			lines(Parameters{Header: whole.Header, Body: whole.Body, Buttons: map[string]string{"1": "x", "3": "OUTRO", "0": "payload"}}),
			"*Pedido 77*\n\nOlá Ana, o pedido 77 saiu.\nObrigado, Ana!\n\n" +
				"Acompanhar: https://shop.example/orders/x\nLigar: +5511999990100\nOUTRO\n1. Recebi\n2. Não recebi\n\n_Loja da Ana_", FormatText, "",
		},
		"nothing given":          {order(), Parameters{}, "", "", "headerParameters.1 bodyParameters.1 bodyParameters.2 buttonParameters.1"},
		"too many":               {body("Oi {{1}}"), Parameters{Body: map[string]string{"1": "a", "2": "b"}, Header: map[string]string{"1": "c"}, Buttons: map[string]string{"0": "d"}}, "", "", "headerParameters.1 bodyParameters.2 buttonParameters.0"},
		"a name":                 {body("Oi {{nome}}"), Parameters{Body: map[string]string{"nome": "Ana"}}, "Oi Ana", FormatText, ""},
		"another name":           {body("Oi {{nome}}"), Parameters{Body: map[string]string{"1": "Ana"}}, "", "", "bodyParameters.nome bodyParameters.1"},
		"not put in again":       {body("{{1}} {{2}}"), Parameters{Body: map[string]string{"1": "{{2}}", "2": "$1"}}, "{{2}} $1", FormatText, ""},
		"blank":                  {body("{{1}}"), Parameters{Body: map[string]string{"1": " "}}, "", "", "bodyParameters.1"},
		"too long":               {body("{{1}}"), Parameters{Body: map[string]string{"1": strings.Repeat("á", maxParameter+1)}}, "", "", "bodyParameters.1"},
		"too long altogether":    {body("{{1}}{{1}}{{1}}{{1}}{{1}}"), Parameters{Body: map[string]string{"1": strings.Repeat("á", maxParameter)}}, "", "", "bodyParameters"},
		"a file":                 {withHeader(FormatVideo), Parameters{Body: map[string]string{"nome": "Ana"}, File: true}, "Oi Ana", FormatVideo, ""},
		"no file":                {withHeader(FormatImage), Parameters{Body: map[string]string{"nome": "Ana"}}, "", "", "media"},
		"a file too many":        {body("Oi"), Parameters{File: true}, "", "", "media"},
		"a URL with a space":     {order(), Parameters{Header: whole.Header, Body: whole.Body, Buttons: map[string]string{"1": "x y"}}, "", "", "buttonParameters.1"},
		"a header of two lines":  {order(), Parameters{Header: map[string]string{"1": "7\n7"}, Body: whole.Body, Buttons: whole.Buttons, NoPoll: true}, "Pedido 7\n7\n\nOlá Ana, o pedido 77 saiu.\nObrigado, Ana!\n\nAcompanhar: https://shop.example/orders/77?a=b\nLigar: +5511999990100\nANA10\n1. Recebi\n2. Não recebi\n\n_Loja da Ana_", FormatText, ""},
		"a button without value": {order(), Parameters{Header: whole.Header, Body: whole.Body, Buttons: map[string]string{"1": "x", "2": "y", "9": "z"}}, "", "", "buttonParameters.2 buttonParameters.9"},
	}) {
		if err := test.template.check(); err != nil {
			t.Errorf("%s: the template is refused: %v", name, err)
		}
		got, err := test.template.Render(test.given)
		if wrong := strings.Join(fieldsOf(t, err), " "); wrong != test.wrong {
			t.Errorf("%s: wrong are %q, want %q (%v)", name, wrong, test.wrong, err)
		}
		if test.wrong == "" && (got.Text != test.text || got.File != test.file) {
			t.Errorf("%s: it says %q with %s", name, got.Text, got.File)
		}
	}
}

// Several quick replies are the options of a poll, where it can say the rest; else they are lines. They have IDs in any case.
func TestQuickReplies(t *testing.T) {
	t.Parallel()
	with := func(text string, header Format, replies ...string) Template {
		made := body(text)
		if header != "" {
			made.Components = append(made.Components, Component{Part: Header, Format: header})
		}
		made.Components = append(made.Components, Component{Part: Buttons}, Component{Part: Footer, Text: "Loja"})
		for _, reply := range replies {
			buttons := &made.Components[len(made.Components)-2].Buttons
			*buttons = append(*buttons, Button{Does: QuickReply, Text: reply})
		}
		return made
	}
	most := strings.Repeat("á", maxQuestion-len("\n\nLoja"))
	for name, test := range cases.Sorted(map[string]struct {
		template Template
		given    Parameters
		text     string
		poll     bool
		ids      string
	}{
		"two":               {with("Vem?", "", "Sim", "Não"), Parameters{}, "Vem?\n\nLoja", true, "Sim Não"},
		"with payloads":     {with("Vem?", "", "Sim", "Não"), Parameters{Buttons: map[string]string{"0": "y"}}, "Vem?\n\nLoja", true, "y Não"},
		"one":               {with("Vem?", "", "Sim"), Parameters{}, "Vem?\n\n1. Sim\n\n_Loja_", false, "Sim"},
		"the same":          {with("Vem?", "", "Sim", "Sim"), Parameters{Buttons: map[string]string{"0": "1", "1": "2"}}, "Vem?\n\n1. Sim\n2. Sim\n\n_Loja_", false, "1 2"},
		"the same payloads": {with("Vem?", "", "Sim", "Não"), Parameters{Buttons: map[string]string{"0": "1", "1": "1"}}, "Vem?\n\n1. Sim\n2. Não\n\n_Loja_", false, "1 1"},
		"a file":            {with("Vem?", FormatImage, "Sim", "Não"), Parameters{File: true}, "Vem?\n\n1. Sim\n2. Não\n\n_Loja_", false, "Sim Não"},
		"not wanted":        {with("Vem?", "", "Sim", "Não"), Parameters{NoPoll: true}, "Vem?\n\n1. Sim\n2. Não\n\n_Loja_", false, "Sim Não"},
		"as long as may be": {with(most, "", "Sim", "Não"), Parameters{}, most + "\n\nLoja", true, "Sim Não"},
		"too long":          {with(most+"á", "", "Sim", "Não"), Parameters{}, most + "á\n\n1. Sim\n2. Não\n\n_Loja_", false, "Sim Não"},
	}) {
		got, err := test.template.Render(test.given)
		var ids []string
		for _, reply := range got.Replies {
			ids = append(ids, reply.ID)
		}
		if err != nil || got.Text != test.text || got.Poll != test.poll || strings.Join(ids, " ") != test.ids {
			t.Errorf("%s: %+v (%v)", name, got, err)
		}
	}
	for _, payload := range []string{"", " ", "a\nb", strings.Repeat("a", maxPayload+1)} {
		_, err := new(with("Vem?", "", "Sim", "Não")).Render(Parameters{Buttons: map[string]string{"1": payload}})
		if wrong := strings.Join(fieldsOf(t, err), " "); wrong != "buttonParameters.1" {
			t.Errorf("%q: wrong are %q", payload, wrong)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	with := func(components ...Component) Template {
		made := body("Oi")
		made.Components = append(made.Components, components...)
		return made
	}
	button := func(made Button) Template { return with(Component{Part: Buttons, Buttons: []Button{made}}) }
	named := func(change func(t *Template)) Template {
		made := order()
		change(&made)
		return made
	}
	for name, test := range cases.Sorted(map[string]struct {
		template Template
		wrong    string
	}{
		"whole":               {order(), ""},
		"a name":              {named(func(t *Template) { t.Name = "Order" }), "name"},
		"a language":          {named(func(t *Template) { t.Language = "pt-BR" }), "language"},
		"a category":          {named(func(t *Template) { t.Category = "SPAM" }), "category"},
		"no body":             {named(func(t *Template) { t.Components = t.Components[:1] }), "components"},
		"names for numbers":   {named(func(t *Template) { t.Parameters = Named }), "components[0].text components[1].text"},
		"two bodies":          {with(Component{Part: Body, Text: "x"}), "components[1].type"},
		"a gap":               {body("{{1}} {{3}}"), "components[0].text"},
		"zero":                {body("{{0}}"), "components[0].text"},
		"a leading zero":      {body("{{01}}"), "components[0].text"},
		"names and numbers":   {body("{{1}} {{nome}}"), "components[0].text"},
		"braces":              {body("{{ Nome }}"), "components[0].text"},
		"blank":               {body(" \n"), "components[0].text"},
		"long":                {body(strings.Repeat("a", maxBody+1)), "components[0].text"},
		"unknown part":        {with(Component{Part: "CAROUSEL"}), "components[1].type"},
		"a file with text":    {with(Component{Part: Header, Format: FormatImage, Text: "x"}), "components[1].text"},
		"a header of nothing": {with(Component{Part: Header, Text: "x"}), "components[1].format"},
		"two in the header":   {with(Component{Part: Header, Format: FormatText, Text: "{{1}} {{2}}"}), "components[1].text"},
		"one in the footer":   {with(Component{Part: Footer, Text: "{{1}}"}), "components[1].text"},
		"no buttons":          {with(Component{Part: Buttons}), "components[1].buttons"},
		"eleven buttons":      {with(Component{Part: Buttons, Buttons: make([]Button, maxButtons+1)}), "components[1].buttons"},
		"a reply":             {button(Button{Does: QuickReply, Text: "Sim"}), ""},
		"no text":             {button(Button{Does: QuickReply}), "components[1].buttons[0].text"},
		"two lines":           {button(Button{Does: QuickReply, Text: "a\nb"}), "components[1].buttons[0].text"},
		"a script":            {button(Button{Does: OpenURL, Text: "x", URL: "javascript:alert(1)"}), "components[1].buttons[0].url"},
		"a URL in the middle": {button(Button{Does: OpenURL, Text: "x", URL: "https://a.example/{{1}}/b"}), "components[1].buttons[0].url"},
		"no phone":            {button(Button{Does: Call, Text: "x", PhoneNumber: "a"}), "components[1].buttons[0].phoneNumber"},
		"no code":             {button(Button{Does: CopyCode}), "components[1].buttons[0].example"},
		"unknown button":      {button(Button{Does: "FLOW", Text: "x"}), "components[1].buttons[0].type"},
	}) {
		wrong := fieldsOf(t, test.template.check())
		if name == "eleven buttons" {
			wrong = wrong[:1] // they are wrong themselves too
		}
		if got := strings.Join(wrong, " "); got != test.wrong {
			t.Errorf("%s: wrong are %q, want %q", name, got, test.wrong)
		}
	}
}

// What can be used says something with all of its parameters, within the bounds, and nothing of it is taken for a
// parameter that was given with another.
func FuzzRender(f *testing.F) {
	f.Add("Olá {{1}}", "Pedido {{1}}", "https://a.example/{{1}}", "Ana")
	f.Add("{{nome}}", "", "", "{{1}}")
	f.Add("{{1}}{{1}}{{2}}", "*", "http://{{1}}", "\xff")
	f.Add("{{{{1}}}}", "{{1}}", "https://a.example/{{1}}{{1}}", "$1${1}")
	f.Fuzz(func(t *testing.T, text, header, address, value string) {
		made := body(text)
		if header != "" {
			made.Components = append(made.Components, Component{Part: Header, Format: FormatText, Text: header})
		}
		if address != "" {
			made.Components = append(made.Components, Component{Part: Buttons, Buttons: []Button{
				{Does: OpenURL, Text: "x", URL: address}, {Does: QuickReply, Text: "Sim"}, {Does: QuickReply, Text: "Não"},
			}})
		}
		made.Parameters = namingOf(made.Components)
		if made.check() != nil {
			return
		}
		all := func(of string) map[string]string {
			given := map[string]string{}
			for _, name := range placeholders(of) {
				given[name] = value
			}
			return given
		}
		given := Parameters{Header: all(header), Body: all(text)}
		if len(placeholders(address)) > 0 {
			given.Buttons = map[string]string{"0": value, "1": value}
		}
		got, err := made.Render(given)
		if _, again := made.Render(Parameters{Body: map[string]string{"no_such": "x"}}); again == nil {
			t.Error("a parameter too many is put somewhere")
		}
		if err != nil {
			for _, field := range fieldsOf(t, err) {
				if value != "" && strings.TrimSpace(value) != "" && len(value) < 100 && !strings.ContainsFunc(value, func(c rune) bool { return c == ' ' || unicode.IsControl(c) }) && strings.ToValidUTF8(value, "") == value && field != fieldBody {
					t.Errorf("%q is refused for %s: %v", value, field, err)
				}
			}
			return
		}
		if got.Poll && (got.Replies[0].ID == got.Replies[1].ID || len([]rune(got.Text)) > maxQuestion) {
			t.Errorf("a poll says %q with %q", got.Text, got.Replies)
		}
		if strings.TrimSpace(got.Text) == "" || len([]rune(got.Text)) > MaxText {
			t.Errorf("it says %q", got.Text)
		}
	})
}
