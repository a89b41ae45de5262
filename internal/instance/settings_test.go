package instance

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// What can't be seen in a name is refused when an instance is made and when it is changed.
func TestNamesHideNothing(t *testing.T) {
	t.Parallel()
	service, _ := newSlowService(t, gateway.StatusCreated, "")
	for name, refused := range cases.Sorted(map[string]bool{
		"Padaria São João": false, "مخبز": false, "🥖": false, "turned\u202eevil": true, "embedded\u202a": true, "isolated\u2066": true,
		"ended\u2069": true, "two\nlines": true, "bell\a": true,
	}) {
		_, err := service.Create(t.Context(), "account", Draft{Name: name})
		if failure, ok := gateway.AsError(err); ok != refused || refused && (failure.Kind != gateway.Invalid || !strings.Contains(failure.Error(), "U+202A")) {
			t.Errorf("%q is made with %v", name, err)
		}
		if _, err := (Settings{Name: &name}).check(); (err != nil) != refused {
			t.Errorf("%q is changed with %v", name, err)
		}
		_, err = service.Create(t.Context(), "account", Draft{Name: "shop", ExternalName: name})
		if failure, ok := gateway.AsError(err); ok != refused || refused && failure.Fields[0].Field != "externalName" {
			t.Errorf("the external name %q is set with %v", name, err)
		}
		if _, err := (Settings{ExternalName: &name}).check(); (err != nil) != refused {
			t.Errorf("the external name %q is changed with %v", name, err)
		}
	}
}
