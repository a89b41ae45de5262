package dialect_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect"
)

// What stands for the parameters of a template is read in all the forms in which tools write it.
func TestFillTemplate(t *testing.T) {
	t.Parallel()
	type params = map[string]string
	for _, test := range []struct {
		name, components string
		want             client.TemplateMessage
	}{
		{"nothing", `[]`, client.TemplateMessage{}},
		{"texts", `[{"type":"body","parameters":[{"type":"text","text":"Ana"},{"type":"text","text":12}]}]`, client.TemplateMessage{BodyParameters: params{"1": "Ana", "2": "12"}}},
		{"names", `[{"type":"BODY","parameters":[{"type":"text","parameter_name":"customer","text":"Ana"}]}]`, client.TemplateMessage{BodyParameters: params{"customer": "Ana"}}},
		{"money and time", `[{"type":"body","parameters":[{"type":"currency","currency":{"fallback_value":"R$ 10","code":"BRL","amount_1000":10000}},{"type":"date_time","date_time":{"fallback_value":"hoje"}}]}]`, client.TemplateMessage{BodyParameters: params{"1": "R$ 10", "2": "hoje"}}},
		{"a text above", `[{"type":"header","parameters":[{"type":"text","text":"Oi"}]}]`, client.TemplateMessage{HeaderParameters: params{"1": "Oi"}}},
		{"a file", `[{"type":"header","parameters":[{"type":"document","document":{"link":"https://u/a","filename":"a.pdf"}}]}]`, client.TemplateMessage{Media: "https://u/a", FileName: "a.pdf"}},
		{"an upload", `[{"type":"header","parameters":[{"type":"image","image":{"id":12}}]}]`, client.TemplateMessage{Media: "upload:12"}},
		{"a film", `[{"type":"header","parameters":[{"type":"video","video":{"link":"https://u/v"}}]}]`, client.TemplateMessage{Media: "https://u/v"}},
		{"buttons", `[{"type":"button","sub_type":"quick_reply","index":0,"parameters":[{"type":"payload","payload":"x"}]},{"type":"button","sub_type":"url","index":"1","parameters":[{"type":"text","text":"12"}]},{"type":"button","sub_type":"copy_code","index":2,"parameters":[{"type":"coupon_code","coupon_code":"A1"}]},{"type":"button","index":3}]`, client.TemplateMessage{ButtonParameters: params{"0": "x", "1": "12", "2": "A1"}}},
	} {
		var components []dialect.TemplateComponent
		if err := json.Unmarshal([]byte(test.components), &components); err != nil {
			t.Fatal(err)
		}
		for _, given := range []*params{&test.want.HeaderParameters, &test.want.BodyParameters, &test.want.ButtonParameters} {
			if *given == nil {
				*given = params{}
			}
		}
		var got client.TemplateMessage
		if err := dialect.FillTemplate(&got, components); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v (%v)", test.name, got, err)
		}
	}
}

// What no template could take is refused by the name of the field.
func TestFillTemplateRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ components, field string }{
		{`[{"type":"footer"}]`, "components[0].type"},
		{`[{"type":"body","parameters":[{"type":"text","text":"x"},{"type":"image","image":{"link":"https://u"}}]}]`, "components[0].parameters[1]"},
		{`[{"type":"body"},{"type":"header","parameters":[{"type":"image"}]}]`, "components[1].parameters[0]"},
		{`[{"type":"header","parameters":[{"type":"location"}]}]`, "components[0].parameters[0]"},
		{`[{"type":"body","parameters":[{"type":"currency"}]}]`, "components[0].parameters[0]"},
		{`[{"type":"button","sub_type":"url","parameters":[{"type":"text","text":"x"}]}]`, "components[0].index"},
		{`[{"type":"button","sub_type":"url","index":-1,"parameters":[{"type":"text","text":"x"}]}]`, "components[0].index"},
		{`[{"type":"button","sub_type":"url","index":0,"parameters":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]`, "components[0].parameters"},
	} {
		var components []dialect.TemplateComponent
		if err := json.Unmarshal([]byte(test.components), &components); err != nil {
			t.Fatal(err)
		}
		var got client.TemplateMessage
		if fault, ok := errors.AsType[*dialect.TemplateError](dialect.FillTemplate(&got, components)); !ok || fault.Field != test.field {
			t.Errorf("%s is refused with %v", test.components, fault)
		}
	}
}
