package recado_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/client/recadotest"
	recado "github.com/recado-project/recado/sdks/testcontainers-go"
)

// A gateway of the image answers, and its phones receive what is sent.
func TestGatewayRunsInAContainer(t *testing.T) { //nolint:paralleltest // one daemon starts one container after another
	container, err := recado.Run(t.Context(), "recado")
	testcontainers.CleanupContainer(t, container)
	if err != nil {
		t.Fatal(err)
	}
	gateway := container.Gateway
	phone := gateway.Phone("5511988887766")
	calls := client.New(gateway.BaseURL, gateway.APIKey)
	if _, err := calls.SendText(t.Context(), gateway.InstanceID, client.Text{To: phone.Number, Message: "Oi!"}); err != nil {
		t.Fatal(err)
	}
	if got := phone.WaitForMessage(t, nil); got.Text != "Oi!" {
		t.Errorf("the phone received %q", got.Text)
	}
}

// An image that starts no gateway is refused.
func TestContainerWithoutAGatewayIsRefused(t *testing.T) { //nolint:paralleltest // as above
	container, err := recado.Run(t.Context(), "recado", testcontainers.WithCmd("--version"))
	testcontainers.CleanupContainer(t, container)
	if err == nil {
		t.Error("a container without a gateway is started")
	}
}

// Without the program, recadotest starts the image, whose webhooks reach a bot of the test.
func TestRecadotestStartsTheImage(t *testing.T) {
	t.Setenv("RECADO_BIN", "")
	gateway := recadotest.Start(t)
	received := make(chan struct{}, 1)
	bot := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received <- struct{}{} }))
	t.Cleanup(bot.Close)
	webhook := client.NewWebhook{URL: bot.URL, Events: []string{"message.received"}}
	if _, err := client.New(gateway.BaseURL, gateway.APIKey).CreateWebhook(t.Context(), gateway.InstanceID, webhook); err != nil {
		t.Fatal(err)
	}
	gateway.Phone("5511988887766").Send(t, "Oi!")
	select {
	case <-received:
	case <-time.After(time.Minute):
		t.Error("the webhook was not delivered")
	}
}
