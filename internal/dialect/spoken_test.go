package dialect_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// Who speaks which dialect is known by key, and what was refused because the gateway can't do it; a stranger leaves nothing.
func TestSpokenDialectsAreKnown(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	key, err := g.Partner.CreateAPIKey(t.Context(), client.NewKey{Name: "flows", InstanceIDs: []string{id}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(want int, secret, method, path, body string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, g.BaseURL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+secret)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s %s is answered %d, want %d", method, path, response.StatusCode, want)
		}
	}
	spoken := func() (said []string) {
		t.Helper()
		for listed, err := range g.Partner.APIKeys(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for _, each := range listed.Dialects {
				if listed.ID != key.ID || each.LastAt.IsZero() {
					t.Errorf("%s has spoken %+v", listed.Name, each)
				}
				for _, refused := range each.Refused {
					said = append(said, fmt.Sprint(each.Dialect, " ", refused.Operation, " ", strings.Contains(refused.Reason, " webhook")))
				}
				said = append(said, each.Dialect)
			}
		}
		return said
	}
	ask(http.StatusUnauthorized, "nobody", http.MethodGet, "/evolution/instance/fetchInstances", "")
	ask(http.StatusUnauthorized, "nobody", http.MethodPost, "/evolution/rabbitmq/set/x", "{}")
	if got := spoken(); len(got) != 0 {
		t.Errorf("before, there was spoken %q", got)
	}
	ask(http.StatusOK, key.Key, http.MethodGet, "/evolution/instance/fetchInstances", "")
	ask(http.StatusNotFound, key.Key, http.MethodGet, "/evolution/instance/connect/another", "")
	for range 2 { // what is the same within a minute is stored once
		ask(http.StatusNotImplemented, key.Key, http.MethodPost, "/evolution/rabbitmq/set/"+id, "{}")
	}
	ask(http.StatusNotImplemented, key.Key, http.MethodPost, "/evolution/sqs/set/"+id, "{}")
	ask(http.StatusOK, key.Key, http.MethodGet, "/cloud/v22.0/"+id, "")
	ask(http.StatusNotImplemented, key.Key, http.MethodPost, "/cloud/v22.0/"+id+"/whatsapp_business_profile", `{"messaging_product":"whatsapp","address":"here"}`)
	want := []string{"evolution sqs/set true", "evolution rabbitmq/set true", "evolution", "cloud POST whatsapp_business_profile false", "cloud"}
	if got := spoken(); strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("there was spoken %q, want %q", got, want)
	}
}
