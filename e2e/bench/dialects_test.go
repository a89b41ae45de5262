package bench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/crowd"
)

// BenchmarkDialects sends texts through the gateway's own API and through the languages of other tools, in turns, over one connection
// each, and reports how much more of the processor's time a text takes there.
func BenchmarkDialects(b *testing.B) {
	const texts, turns = 500, 6
	world := startWorld(b, 1)
	instance, err := world.client.GetInstance(b.Context(), world.instances[0])
	if err != nil {
		b.Fatal(err)
	}
	key, err := world.client.CreateAPIKey(b.Context(), client.NewKey{Name: "dialects", InstanceIDs: world.instances})
	if err != nil {
		b.Fatal(err)
	}
	own, web := client.New("http://"+world.gateway.address, key.Key), keepingConnections(b)
	post := func(path string, body map[string]any) {
		encoded, err := json.Marshal(body)
		if err != nil {
			b.Fatal(err)
		}
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://"+world.gateway.address+path, bytes.NewReader(encoded))
		if err != nil {
			b.Fatal(err)
		}
		request.Header.Set("Apikey", key.Key)
		request.Header.Set("Authorization", "Bearer "+key.Key)
		request.Header.Set("Content-Type", "application/json")
		response, err := web.Do(request)
		if err != nil {
			b.Fatal(err)
		}
		defer response.Body.Close() //nolint:errcheck // it is read to its end
		if answer, err := io.ReadAll(response.Body); err != nil || response.StatusCode >= http.StatusMultipleChoices {
			b.Fatal(response.Status, string(answer), err)
		}
	}
	to := crowd.Recipient(0)
	ways := []struct {
		name string
		send func(text string)
	}{
		{"own", func(text string) {
			if _, err := own.SendText(b.Context(), instance.InstanceID, client.Text{To: to, Message: text}); err != nil {
				b.Fatal(err)
			}
		}},
		{"evolution", func(text string) {
			post("/evolution/message/sendText/"+instance.InstanceID, map[string]any{"number": to, "text": text, "linkPreview": false})
		}},
		{"cloud", func(text string) {
			post("/cloud/v22.0/"+instance.MessengerID+"/messages", map[string]any{
				"messaging_product": "whatsapp", "to": to, "type": "text", "text": map[string]any{"body": text},
			})
		}},
	}
	for b.Loop() {
		used := make([]time.Duration, len(ways))
		for turn := range turns + 1 {
			for n, way := range ways {
				before := world.gateway.cpu(b)
				for m := range texts {
					way.send(fmt.Sprintf("message %d", m))
				}
				if turn > 0 { // the first one warms up
					used[n] += world.gateway.cpu(b) - before
				}
			}
		}
		for n, way := range ways {
			b.ReportMetric(float64(used[n].Microseconds())/texts/turns, way.name+"-cpu-µs/text")
			if n > 0 {
				b.ReportMetric(float64((used[n]-used[0]).Microseconds())/texts/turns, way.name+"-more-µs/text")
			}
		}
		b.ReportMetric(0, "ns/op")
	}
}
