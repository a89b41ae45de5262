package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

const (
	documentPath = "../../docs/openapi.yaml"
	clientPath   = "../../client"
)

//nolint:gochecknoglobals // flags of a test are registered before it runs
var update = flag.Bool("update", false, "write the generated files of the client anew")

// The files of the client in the repository are what comes of the document.
func TestClientDocument(t *testing.T) {
	t.Parallel()
	if *update {
		if err := generate(documentPath, "go", clientPath); err != nil {
			t.Fatal(err)
		}
		return
	}
	written, err := files(documentPath, "go")
	if err != nil {
		t.Fatal(err)
	}
	for name, code := range cases.Sorted(written) {
		kept, err := os.ReadFile(filepath.Join(clientPath, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(kept, code) {
			t.Errorf("client/%s is not what comes of docs/openapi.yaml: run make generate, and read the diff", name)
		}
	}
}

// Each rule of the generator, in every language, in a document that has nothing else.
func TestRules(t *testing.T) {
	t.Parallel()
	const path = "testdata/rules"
	for _, language := range languages() {
		written, err := files(path+".yaml", language)
		if err != nil {
			t.Fatal(err)
		}
		if language == "php" { // which has a file for each class
			written = map[string][]byte{"php": joined(written)}
		}
		for name, code := range cases.Sorted(written) {
			golden := filepath.Join(path, name+".txt")
			if *update {
				if err := os.WriteFile(golden, code, 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			kept, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(kept, code) {
				t.Errorf("%s is not what comes of %s.yaml, but\n%s", golden, path, code)
			}
		}
	}
}

// joined makes one text of files.
func joined(files map[string][]byte) []byte {
	var all bytes.Buffer
	for name, code := range cases.Sorted(files) {
		all.WriteString("=== " + name + "\n")
		all.Write(code)
	}
	return all.Bytes()
}

// What no good client can be made of is an error, and no odd client.
func TestDocumentsThatAreRefused(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("testdata/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for says, change := range cases.Sorted(map[string]struct{ old, new string }{
		"readThings has pages":                {"listThings", "readThings"},
		"POST /things has no operationId":     {"operationId: createThing", "operationId: ''"},
		"Part is asked and answered":          {"schemas/NewThing'", "schemas/Thing'"},
		"deleteThing has headers and no body": {"in: query, name: force", "in: header, name: force"},
		"read the document":                   {"components:", "components"},
	}) {
		changed := strings.ReplaceAll(string(rules), change.old, change.new)
		if _, err := read([]byte(changed)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want one that says %q", err, says)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range cases.Sorted(map[string]string{
		"messageId": "MessageID", "MESSAGE_NOT_FOUND": "MessageNotFound", "pending_qr_code_scan": "PendingQRCodeScan", "getQRCode": "GetQRCode",
		"instanceIds": "InstanceIDs", "Idempotency-Key": "IdempotencyKey", "listAPIKeys": "ListAPIKeys", "clientDataJSON": "ClientDataJSON", "id": "ID",
	}) {
		if got := goName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for name, want := range cases.Sorted(map[string]string{"instanceId": "instanceID", "id": "id", "phone": "phone"}) {
		if got := goLowerName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for name, want := range cases.Sorted(map[string]string{
		"messageId": "message_id", "listAPIKeys": "list_api_keys", "Idempotency-Key": "idempotency_key", "from": "from_", "clientDataJSON": "client_data_json",
	}) {
		if got := pythonName(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for name, want := range cases.Sorted(map[string]string{"message_id": "messageId", "from_": "from", "url": "url"}) {
		if got := camelName(name); got != want {
			t.Errorf("%s is %s in JSON, want %s", name, got, want)
		}
	}
	for command, want := range cases.Sorted(map[string]string{
		"Send a text": "sends a text", "Reply to a message": "replies to a message", "Search chats": "searches chats", "Get a chat": "returns a chat",
	}) {
		if got := inThirdPerson(command); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
