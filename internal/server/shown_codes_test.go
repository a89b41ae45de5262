package server_test

import (
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
)

// Who holds a phone of the sandbox is shown the codes that wait to be scanned, and no
// longer than they can be.
func TestShownCodesAreThoseOfInstancesThatAreLinked(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	codes := func() (names []string, pairing, number string) {
		t.Helper()
		shown, err := g.Server.Instances().ShownCodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range shown {
			names = append(names, code.Instance.Name)
			pairing, number = code.Pairing.Code, code.Number
		}
		return names, pairing, number
	}
	idle, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "idle"})
	if err != nil {
		t.Fatal(err)
	}
	shop, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if names, _, _ := codes(); len(names) != 0 {
		t.Errorf("nobody asked for a code, but shown are those of %v", names)
	}
	if _, err := g.Client.GetQRCode(t.Context(), shop.InstanceID, client.GetQRCodeParams{}); err != nil {
		t.Fatal(err)
	}
	if names, pairing, _ := codes(); len(names) != 1 || names[0] != "shop" || pairing != "" {
		t.Errorf("shown are the codes of %v, with the pairing code %q", names, pairing)
	}
	asked, err := g.Client.GetPairingCode(t.Context(), shop.InstanceID, client.NewPairingCode{Phone: shopNumber})
	if err != nil {
		t.Fatal(err)
	}
	if _, pairing, number := codes(); pairing == "" || pairing != asked.PairingCode || number != shopNumber {
		t.Errorf("shown is the pairing code %q for %s, want %q", pairing, number, asked.PairingCode)
	}
	g.Scan(t, shop.InstanceID, shopNumber)
	if names, _, _ := codes(); len(names) != 0 {
		t.Errorf("all is linked, but shown are the codes of %v", names)
	}
	if g.Instance(t, idle.InstanceID).Status != string(gateway.StatusCreated) {
		t.Error("the list of codes has started a linking")
	}
}
