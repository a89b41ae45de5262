package instance

import (
	"errors"
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestSearchAndSome(t *testing.T) {
	t.Parallel()
	service, data := newSlowService(t, gateway.StatusConnected, "keys")
	err := errors.Join(
		data.CreateAccount(t.Context(), gateway.Account{ID: "other", Name: "other"}),
		data.CreateInstance(t.Context(), gateway.Instance{ID: "aa11", AccountID: "account", Name: "São Paulo", Profile: gateway.Profile{
			JID: "5511999990000@s.whatsapp.net", LID: "777@lid", Name: "Padaria ÁGUA",
		}}),
		data.CreateInstance(t.Context(), gateway.Instance{ID: "bb22", AccountID: "account", Name: "Loja 11"}),
		data.CreateInstance(t.Context(), gateway.Instance{ID: "cc33", AccountID: "other", Name: "São"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	all := gateway.PageRequest{Page: 1, Limit: 10}
	whole, restricted := gateway.Key{AccountID: "account"}, gateway.Key{AccountID: "account", InstanceIDs: []string{"bb22", "phone"}}
	for name, test := range cases.Sorted(map[string]struct {
		key   gateway.Key
		text  string
		page  gateway.PageRequest
		want  []string
		total int
	}{
		"nothing":                {whole, " ", all, []string{"aa11", "bb22", "phone"}, 3},
		"name":                   {whole, "SÃO p", all, []string{"aa11"}, 1},
		"profile name":           {whole, "água", all, []string{"aa11"}, 1},
		"id":                     {whole, "B22", all, []string{"bb22"}, 1},
		"number":                 {whole, "+55 (11) 99999-0000", all, []string{"aa11"}, 1},
		"name and number":        {whole, "11", all, []string{"aa11", "bb22"}, 2},
		"second page":            {whole, "11", gateway.PageRequest{Page: 2, Limit: 1}, []string{"bb22"}, 2},
		"past the end":           {whole, "11", gateway.PageRequest{Page: 9, Limit: 1}, nil, 2},
		"not the LID":            {whole, "777", all, nil, 0},
		"no number":              {whole, "+ -", all, nil, 0},
		"within the key's scope": {restricted, "11", all, []string{"bb22"}, 1},
		"not as a pattern":       {whole, "%", all, nil, 0},
		"of another account":     {gateway.Key{AccountID: "nobody"}, "11", all, nil, 0},
	}) {
		page, err := service.Search(t.Context(), test.key, test.text, test.page)
		if got := idsOf(page.Items); err != nil || !slices.Equal(got, test.want) || page.Total != test.total {
			t.Errorf("%s: found %v of %d (%v), want %v of %d", name, got, page.Total, err, test.want, test.total)
		}
	}
	for name, test := range cases.Sorted(map[string]struct {
		key  gateway.Key
		ids  []string
		want []string
	}{
		"some":                   {whole, []string{"phone", "aa11", "cc33", "gone"}, []string{"aa11", "phone"}},
		"none":                   {whole, nil, nil},
		"within the key's scope": {restricted, []string{"phone", "aa11"}, []string{"phone"}},
		"beyond it":              {restricted, []string{"aa11"}, nil},
	}) {
		some, err := service.Some(t.Context(), test.key, test.ids)
		if got := idsOf(some); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v (%v), want %v", name, got, err, test.want)
		}
		for _, one := range some {
			if one.Status == gateway.StatusConnected {
				t.Errorf("%s is said to be connected", one.ID)
			}
		}
	}
}
