package commandtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/oasdiff/yaml"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/client/recadotest"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/process"
)

// startBot starts a bot that answers louder.
func startBot(t *testing.T, gateway *recadotest.Gateway) {
	t.Helper()
	calls := client.New(gateway.BaseURL, gateway.APIKey)
	bot := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			InstanceID string `json:"instanceId"`
			Data       struct {
				Chat string `json:"chat"`
				Text string `json:"text"`
			} `json:"data"`
		}
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		answer := client.Text{To: event.Data.Chat, Message: strings.ToUpper(event.Data.Text)}
		if _, err := calls.SendText(r.Context(), event.InstanceID, answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(bot.Close)
	webhook := client.NewWebhook{URL: bot.URL, Events: []string{"message.received"}}
	if _, err := calls.CreateWebhook(t.Context(), gateway.InstanceID, webhook); err != nil {
		t.Fatal(err)
	}
}

// Bots are tested with simulated phones, as docs/testing.md shows.
func TestBotsAreTestedInGo(t *testing.T) {
	t.Setenv("RECADO_BIN", process.Program(t))
	t.Setenv("RECADO_EMPTY", "true") // another gateway's

	gateway := recadotest.Start(t)
	startBot(t, gateway)

	phone := gateway.Phone("5511988887766")
	phone.Send(t, "Oi!")
	if answer := phone.WaitForMessage(t, nil); answer.Text != "OI!" {
		t.Errorf("the bot answered %q", answer.Text)
	}

	phone.Send(t, "Tudo bem?")
	if next := phone.WaitForMessage(t, nil); next.Text != "TUDO BEM?" {
		t.Errorf("the next answer is %+v", next)
	}
	other := recadotest.Start(t)
	if messages := other.Phone(phone.Number).Messages(t); len(messages) != 0 {
		t.Errorf("another gateway's phone shows %+v", messages)
	}
}

// block returns the code of the page about testing: the nth block of a language.
func block(t *testing.T, language string, n int) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```"+language+"\n(.*?)```\n").FindAllStringSubmatch(string(page), -1)
	if n >= len(found) {
		t.Fatalf("docs/testing.md has %d blocks of %s", len(found), language)
	}
	return found[n][1]
}

// A shell tests a bot, as the page says: the bot here writes to the phone once.
func TestBotsAreTestedInAShell(t *testing.T) {
	t.Parallel()
	folder, program := t.TempDir(), process.Program(t)
	script := block(t, "sh", 2)
	for old, replacement := range cases.Sorted(map[string]string{
		"recado dev ":                 program + " dev ",
		"--listen 127.0.0.1:8080":     "--listen 127.0.0.1:0",
		"$(mktemp -d)":                folder + "/data",
		"PHONE=http://127.0.0.1:8080": `PHONE=$(sed -n 's/.*"baseUrl": "\([^"]*\)".*/\1/p' ready.json)`,
	}) {
		if strings.Count(script, old) != 1 {
			t.Fatalf("the script does not have %s once:\n%s", old, script)
		}
		script = strings.Replace(script, old, replacement, 1)
	}
	bot := `#!/bin/sh
field() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" ready.json; }
curl -fsS -H "x-api-key: $(field apiKey)" -H 'content-type: application/json' -d '{"to":"5511988887766","message":"Oi!"}' \
  "$(field baseUrl)/api/message/$(field instanceId)/text"
`
	if err := os.WriteFile(filepath.Join(folder, "my-bot"), []byte(bot), 0o700); err != nil {
		t.Fatal(err)
	}
	output, err := bash(t, folder, script)
	if err != nil || !strings.Contains(output, `"fromMe":true`) || !strings.Contains(output, `"fromMe":false`) {
		t.Errorf("%v: %s", err, output)
	}
}

// bash runs a script as an action does.
func bash(t *testing.T, folder, script string, environment ...string) (output string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	command.Dir, command.Env = folder, append(os.Environ(), environment...)
	printed, err := command.CombinedOutput()
	return string(printed), err
}

// step is one of a job, or of an action.
type step struct {
	ID   string            `json:"id"`
	Uses string            `json:"uses"`
	Run  string            `json:"run"`
	With map[string]string `json:"with"`
	Env  map[string]string `json:"env"`
}

// action is what tools/action/action.yml says.
type action struct {
	Inputs  map[string]any `json:"inputs"`
	Outputs map[string]struct {
		Value string `json:"value"`
	} `json:"outputs"`
	Runs struct {
		Using string `json:"using"`
		Steps []step `json:"steps"`
	} `json:"runs"`
}

func readAction(t *testing.T) (a action) {
	t.Helper()
	content, err := os.ReadFile("../../tools/action/action.yml")
	if err == nil {
		_, err = yaml.Unmarshal(content, &a, yaml.DecodeOpts{})
	}
	if err != nil || a.Runs.Using != "composite" {
		t.Fatalf("the action is %+v: %v", a, err)
	}
	return a
}

// The workflows of the page are workflows, and give the action what it takes.
func TestWorkflowsUseTheAction(t *testing.T) {
	t.Parallel()
	known, used := readAction(t), 0
	for n := range 3 {
		text := block(t, "yaml", n)
		var workflow struct {
			On   string `json:"on"`
			Jobs map[string]struct {
				Steps []step `json:"steps"`
			} `json:"jobs"`
		}
		if _, err := yaml.Unmarshal([]byte(text), &workflow, yaml.DecodeOpts{}); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if len(workflow.Jobs["test"].Steps) < 2 {
			t.Errorf("the workflow has no steps:\n%s", text)
		}
		for _, s := range workflow.Jobs["test"].Steps {
			if (s.Uses == "") == (s.Run == "") {
				t.Errorf("a step uses %q and runs %q", s.Uses, s.Run)
			}
			if !strings.Contains(s.Uses, "tools/action") {
				continue
			}
			used++
			for name := range s.With {
				if known.Inputs[name] == nil {
					t.Errorf("the action has no input %s", name)
				}
			}
		}
		for _, output := range regexp.MustCompile(`steps\.recado\.outputs\.([a-z-]+)`).FindAllStringSubmatch(text, -1) {
			if known.Outputs[output[1]].Value == "" {
				t.Errorf("the action has no output %s", output[1])
			}
		}
	}
	if used != 2 {
		t.Errorf("%d workflows use the action", used)
	}
}

// The action's steps start a gateway, also when the program is installed first, and say where it is.
func TestActionStartsAGateway(t *testing.T) {
	t.Parallel()
	known, program := readAction(t), process.Program(t)
	for name, given := range cases.Sorted(map[string]string{"with a program": program, "with a release": ""}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			// A release's installer, for this test.
			installer := "mkdir -p \"$RECADO_INSTALL_TO\"\nln -s " + program + " \"$RECADO_INSTALL_TO/recado\"\n"
			for file, content := range cases.Sorted(map[string]string{"deploy/install.sh": "#!/bin/sh -e\n" + installer, "tools/action/here": "", "output": "", "environment": ""}) {
				path := filepath.Join(folder, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			defer end(t, filepath.Join(folder, "pid"))
			values := map[string]string{"inputs.program": given, "github.action_path": filepath.Join(folder, "tools", "action"), "runner.temp": folder}
			for _, s := range known.Runs.Steps {
				environment := []string{"GITHUB_OUTPUT=" + filepath.Join(folder, "output"), "GITHUB_ENV=" + filepath.Join(folder, "environment")}
				for variable, value := range s.Env {
					environment = append(environment, variable+"="+values[strings.Trim(value, "${ }")])
				}
				output, err := bash(t, folder, s.Run+"\necho $! >"+filepath.Join(folder, "pid"), environment...)
				if err != nil {
					t.Fatalf("%v: %s", err, output)
				}
				for name, value := range assigned(t, filepath.Join(folder, "output")) {
					values["steps."+s.ID+".outputs."+name] = value
				}
			}
			outputs := map[string]string{}
			for name, output := range known.Outputs {
				outputs[name] = values[strings.Trim(output.Value, "${ }")]
			}
			calls := client.New(outputs["base-url"], outputs["api-key"])
			if _, err := calls.SendText(t.Context(), outputs["instance-id"], client.Text{To: outputs["instance-number"], Message: "Oi!"}); err != nil {
				t.Errorf("with %v: %v", outputs, err)
			}
			variables := assigned(t, filepath.Join(folder, "environment"))
			if variables["RECADO_URL"] != outputs["base-url"] || variables["RECADO_API_KEY"] != outputs["api-key"] || variables["RECADO_BIN"] == "" {
				t.Errorf("later steps find %v", variables)
			}
		})
	}
}

// end ends the process whose identifier a file has: it goes on after the step that has started it.
func end(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the end of the gateway", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(status), ") Z ")
	})
}

// assigned returns what a file assigns to names.
func assigned(t *testing.T, path string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		found[name] = value
	}
	return found
}
