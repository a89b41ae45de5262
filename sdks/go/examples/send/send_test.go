package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/demo"
	"github.com/recado-project/recado/internal/testkit"
)

// The example sends a text, and is what the README shows.
func TestSend(t *testing.T) {
	g := testkit.Start(t, testkit.Options{})
	made, err := demo.Prepare(t.Context(), g.Server, t.TempDir(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("RECADO_URL", g.BaseURL)
	t.Setenv("RECADO_API_KEY", made.APIKey)

	main()

	gateway := client.New(g.BaseURL, made.APIKey)
	instances, err := gateway.ListInstances(t.Context(), client.ListInstancesParams{}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	chats, err := gateway.ListChats(t.Context(), instances.Data[0].InstanceID, client.ListChatsParams{}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(chats.Data); !strings.Contains(got, "5511988887766") {
		t.Errorf("there is no chat with the phone that was written to: %s", got)
	}

	example, err := os.ReadFile("send.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../../../client/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(example), "package main")
	if !strings.Contains(string(readme), "```go\npackage main"+program+"```\n") {
		t.Error("the README does not show the example as it is")
	}
}
