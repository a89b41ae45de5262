package main

import (
	"encoding/json"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/demo"
	"github.com/recado-project/recado/internal/testkit"
)

// The guide is worked through to its end, and the phone has what it sends.
func TestGuide(t *testing.T) {
	g := testkit.Start(t, testkit.Options{})
	made, err := demo.Prepare(t.Context(), g.Server, t.TempDir(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("RECADO_URL", g.BaseURL)
	t.Setenv("RECADO_API_KEY", made.APIKey)
	t.Setenv("RECADO_PARTNER_KEY", made.PartnerKey)

	main()

	page, err := client.New(g.BaseURL, made.APIKey).ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0)
	if err != nil || len(page.Data) != 1 || page.Data[0].Name != "demo" {
		t.Errorf("the instances afterwards: %v, %v", page.Data, err)
	}
	times := map[string]int{}
	for _, message := range messagesOf(t, g.BaseURL, "5511988887766") {
		times[message.Text+message.Caption]++
	}
	for _, text := range []string{
		"Chega até as 18h.", "Seu pedido", "Como montar", "Sua nota", "Chegou?", "Pedido 1234 enviado.",
	} {
		if times[text] == 0 {
			t.Errorf("the phone does not have %q", text)
		}
	}
	if times["Pedido 1234 enviado."] != 1 {
		t.Errorf("what was asked for thrice came %d times", times["Pedido 1234 enviado."])
	}
}

// message is one that a phone of the sandbox has.
type message struct {
	Text    string `json:"text"`
	Caption string `json:"caption"`
}

func messagesOf(t *testing.T, url, phone string) []message {
	t.Helper()
	var listed struct {
		Data []message `json:"data"`
	}
	said := read(t.Context(), url+"/sandbox/api/phones/"+phone+"/messages")
	if err := json.Unmarshal(said, &listed); err != nil {
		t.Fatal(err)
	}
	return listed.Data
}
