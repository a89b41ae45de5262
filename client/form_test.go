package client_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A file travels as it is, beside the other fields.
func TestFilesAreSentInForms(t *testing.T) {
	t.Parallel()
	for name, fileName := range cases.Sorted(map[string]string{"with a name": "a b.png", "without": ""}) {
		var fields map[string][]string
		var content, given string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reading, err := r.MultipartReader()
			if err != nil {
				t.Error(err)
				return
			}
			form, err := reading.ReadForm(1 << 20)
			if err != nil {
				t.Error(err)
				return
			}
			fields = form.Value
			for _, file := range form.File["file"] {
				given = file.Filename
				opened, err := file.Open()
				if err != nil {
					t.Error(err)
					return
				}
				held := make([]byte, file.Size)
				_, _ = opened.Read(held)
				content = string(held)
			}
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(map[string]string{"id": "1", "messageId": "3EB0"})
		}))
		t.Cleanup(server.Close)
		_, err := client.New(server.URL, "key").SendImage(t.Context(), instance, client.Image{
			To: "1", File: &client.File{Content: strings.NewReader("bytes"), Name: fileName}, ViewOnce: true, Mentions: []string{"2", "3"},
		})
		want := map[string][]string{"to": {"1"}, "viewOnce": {"true"}, "mentions": {"2", "3"}}
		if fileName == "" {
			want["file"], content, given = []string{"bytes"}, "bytes", ""
		}
		if err != nil || !reflect.DeepEqual(fields, want) || content != "bytes" || given != fileName {
			t.Errorf("%s: %v and %q, called %q (%v)", name, fields, content, given, err)
		}
	}
}
