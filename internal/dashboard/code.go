package dashboard

import (
	"strings"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

// codeView is the page with code that uses an instance.
type codeView struct {
	instanceHead

	Samples []codeSample
}

// codeSample is the same request in one language.
type codeSample struct {
	ID, Language, Text string
}

// showCode shows how to send with this instance.
func (p *pages) showCode(r *frame.Request, found gateway.Instance) error {
	fill := strings.NewReplacer("{base}", p.Origin(r.Request), "{instance}", found.ID, "{text}", r.Text(web.Word("Hello from Recado!")))
	view := codeView{instanceHead: headOf(found, "code", r.Visitor.Actor.Role)}
	for _, sample := range codeSamples() {
		sample.Text = fill.Replace(sample.Text)
		view.Samples = append(view.Samples, sample)
	}
	return r.Page("code", frame.View{Title: found.Name, Section: "instances", Body: view})
}

// codeSamples are the samples with places for what differs.
func codeSamples() []codeSample {
	return []codeSample{
		{"curl", "curl", `curl -sS '{base}/api/message/{instance}/text' \
  -H "x-api-key: $RECADO_API_KEY" \
  -H 'content-type: application/json' \
  -d '{"to": "5511988887766", "message": "{text}"}'`},
		{"node", "Node", `const response = await fetch("{base}/api/message/{instance}/text", {
  method: "POST",
  headers: { "x-api-key": process.env.RECADO_API_KEY, "content-type": "application/json" },
  body: JSON.stringify({ to: "5511988887766", message: "{text}" }),
});
console.log(response.status, await response.json());`},
		{"python", "Python", `import json, os, urllib.request

request = urllib.request.Request(
    "{base}/api/message/{instance}/text",
    data=json.dumps({"to": "5511988887766", "message": "{text}"}).encode(),
    headers={"x-api-key": os.environ["RECADO_API_KEY"], "content-type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())`},
		{"php", "PHP", `<?php
$curl = curl_init('{base}/api/message/{instance}/text');
curl_setopt_array($curl, [
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => ['x-api-key: ' . getenv('RECADO_API_KEY'), 'content-type: application/json'],
    CURLOPT_POSTFIELDS => json_encode(['to' => '5511988887766', 'message' => '{text}']),
]);
echo curl_exec($curl);`},
		{"go", "Go", `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/recado-project/recado/client"
)

func main() {
	recado := client.New("{base}", os.Getenv("RECADO_API_KEY"))
	sent, err := recado.SendText(context.Background(), "{instance}", client.Text{To: "5511988887766", Message: "{text}"})
	fmt.Println(sent, err)
}`},
	}
}
