package movein_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/movein"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// stateFiles is what Baileys has written for a device of the sandbox, by the names of the
// files. The device has another number.
func stateFiles(t *testing.T, number string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "whatsapp", "baileys", "testdata", "device.json"))
	check(t, err)
	var all map[string]json.RawMessage
	check(t, json.Unmarshal(content, &all))
	files := map[string]string{}
	for name, value := range cases.Sorted(all) {
		files[name+".json"] = strings.ReplaceAll(string(value), "4915100000100", number)
	}
	return files
}

// writeState makes the folder of a device, which was written a while ago.
func writeState(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	check(t, os.MkdirAll(folder, 0o700))
	for name, content := range cases.Sorted(files) {
		check(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	aWhileAgo(t, folder)
}

// stateFolders makes three devices in a folder, deep enough that nobody works around it.
func stateFolders(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "srv", "gateway", "data", "sessions")
	for n, name := range []string{"loja", "suporte", "vendas"} {
		writeState(t, filepath.Join(root, name), stateFiles(t, fmt.Sprintf("551199999000%d", n)))
	}
	return root
}

// A folder of folders has several devices, and one with credentials is one. It stays as it
// is, and a dry run makes nothing.
func TestFoldersAreOnlyRead(t *testing.T) {
	t.Parallel()
	root := stateFolders(t)
	before := contents(t, root)
	config := configOf(t, root)
	config.DryRun = true
	results, err := collectFrom(t, config, movein.FromBaileys)
	check(t, err)
	if len(results) != 3 || results[0].State() != "would come" || results[2].Number != "5511999990002" || results[0].Sessions != 3 || results[0].SenderKeys != 2 {
		t.Errorf("a dry run says %+v", results)
	}
	if exists(filepath.Dir(config.Data.Path)) {
		t.Error("a dry run has made the data folder")
	}
	config.DryRun, config.From = false, filepath.Join(root, "suporte")
	results, err = collectFrom(t, config, movein.FromBaileys)
	check(t, err)
	if len(results) != 1 || results[0].Number != "5511999990001" || results[0].InstanceID == "" || results[0].Name != "Inês Esteves" {
		t.Errorf("one folder came as %+v", results)
	}
	config.From = root
	results, err = collectFrom(t, config, movein.FromBaileys)
	check(t, err)
	if len(results) != 3 || results[0].Name != "Inês Esteves 5511999990000" || !strings.Contains(results[1].Problem, "it is here already, as the instance Inês Esteves") {
		t.Errorf("all folders came as %+v", results)
	}
	if all := instancesOf(t, config.Data); len(all) != 3 || all["5511999990002"].Profile.LID != "446494018263152@lid" {
		t.Errorf("the instances are %v", all)
	}
	if after := contents(t, root); !maps.Equal(before, after) {
		t.Error("the source was changed")
	}
}

// A device that can't be read is left out, and the others come. Nothing of a key is shown,
// and nothing outside of the folder is read.
func TestBrokenFolder(t *testing.T) {
	t.Parallel()
	root := stateFolders(t)
	file := func(device, name, content string) {
		check(t, os.WriteFile(filepath.Join(root, device, name), []byte(content), 0o600))
	}
	file("loja", "creds.json", `{"noiseKey":"a secret"}`)
	file("suporte", "session-1.0.json", `a secret`)
	file("suporte", "session-2.0.json", strings.Repeat("[", 1<<20))
	secret := filepath.Join(t.TempDir(), "session-3.0.json")
	check(t, os.WriteFile(secret, []byte("a secret"), 0o600))
	check(t, os.Symlink(secret, filepath.Join(root, "suporte", "session-3.0.json")))
	if runtime.GOOS == "linux" {
		check(t, exec.CommandContext(t.Context(), "mkfifo", filepath.Join(root, "suporte", "session-4.0.json")).Run())
	}
	check(t, os.Mkdir(filepath.Join(root, "suporte", "session-5.0.json"), 0o700))
	check(t, os.Symlink(filepath.Join(root, "suporte"), filepath.Join(root, "zulu")))
	file("vendas", "creds.json", strings.Replace(stateFiles(t, "5511999990002")["creds.json"], `"account":`, `"before":`, 1))
	aWhileAgo(t, root)

	config := configOf(t, root)
	results, err := collectFrom(t, config, movein.FromBaileys)
	check(t, err)
	byNumber := map[string]movein.Result{}
	for _, result := range results {
		byNumber[result.Number] = result
		if strings.Contains(fmt.Sprint(result), "secret") {
			t.Errorf("a secret is shown: %+v", result)
		}
	}
	if len(results) != 3 || !strings.HasPrefix(byNumber["loja"].Problem, "it can't be read: read the credentials") ||
		!strings.Contains(byNumber["vendas"].Problem, "it is not linked to a phone") {
		t.Errorf("the devices came as %+v", results)
	}
	if came := byNumber["5511999990001"]; came.InstanceID == "" || came.UnreadableSessions != 2 {
		t.Errorf("the device with broken sessions came as %+v", came)
	}
}

// What is too large to be read is not read.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	root := stateFolders(t)
	check(t, os.Truncate(filepath.Join(root, "loja", "creds.json"), 65<<20))
	path := filepath.Join(root, "suporte", "app-state-sync-version-regular.json")
	check(t, os.WriteFile(path, nil, 0o600))
	check(t, os.Truncate(path, 1<<40))
	aWhileAgo(t, root)
	results, err := collectFrom(t, configOf(t, root), movein.FromBaileys)
	check(t, err)
	if len(results) != 3 || !strings.Contains(results[0].Problem, "creds.json has more than") || !strings.Contains(results[1].Problem, "regular.json has more than") ||
		results[2].InstanceID == "" {
		t.Errorf("the devices came as %+v", results)
	}
}

// What holds no devices is refused in words.
func TestFoldersWithoutDevices(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	check(t, os.WriteFile(file, []byte("{}"), 0o600))
	for from, want := range cases.Sorted(map[string]string{
		filepath.Join(folder, "missing"): "no such file", file: "not a directory", folder: "there is no creds.json in it",
	}) {
		results, err := collectFrom(t, configOf(t, from), movein.FromBaileys)
		if err == nil || !strings.Contains(err.Error(), want) || len(results) > 0 {
			t.Errorf("%s: %v, %v; want %q", from, results, err, want)
		}
	}
}

// A folder that another program uses is refused, unless its operator knows better.
func TestFolderInUse(t *testing.T) {
	t.Parallel()
	sources := map[string]string{}
	recentWrite := stateFolders(t)
	now := time.Now()
	check(t, os.Chtimes(filepath.Join(recentWrite, "loja", "session-368232023432062_1.0.json"), now, now))
	sources[recentWrite] = "was written just now"
	if runtime.GOOS == "linux" { // docs/moving-in.md says so
		worked := stateFolders(t)
		process(t, filepath.Join(worked, "vendas"), "cat")
		sources[worked] = "(cat) works in or around this folder"
		opened := stateFolders(t)
		process(t, t.TempDir(), "sh", "-c", `exec 3<"$0"; echo; cat`, filepath.Join(opened, "suporte", "creds.json"))
		sources[opened] = "has creds.json open"
		if node, err := exec.LookPath("node"); err == nil {
			around := stateFolders(t)
			process(t, filepath.Dir(filepath.Dir(around)), node, "-e", "console.log(); process.stdin.resume()")
			sources[around] = "works in or around this folder"
		}
	}
	for from, want := range cases.Sorted(sources) {
		config := configOf(t, from)
		results, err := collectFrom(t, config, movein.FromBaileys)
		if inUse, ok := errors.AsType[*movein.InUseError](err); !ok || !strings.Contains(inUse.Why, want) || len(results) > 0 {
			t.Errorf("%s: %v, %v; want %q", from, results, err, want)
		}
		config.Stopped = true
		if results, err := collectFrom(t, config, movein.FromBaileys); err != nil || len(results) != 3 || results[2].Problem != "" {
			t.Errorf("%s: %v, %v although it is said to be stopped", from, results, err)
		}
	}
}

// process runs a program in a folder until the test ends. The program prints a line when it
// is ready, and ends with its input; cat is ready at once.
func process(t *testing.T, folder string, program ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program[0], program[1:]...)
	command.Dir = folder
	in, err := command.StdinPipe()
	check(t, err)
	out, err := command.StdoutPipe()
	check(t, err)
	check(t, command.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait() // the end of the test may have ended it
	})
	if len(program) > 1 {
		_, err = bufio.NewReader(out).ReadString('\n')
		check(t, err)
	}
}

// Files that are changed while they are read end the import.
func TestFolderChangesMeanwhile(t *testing.T) {
	t.Parallel()
	root := stateFolders(t)
	changed := filepath.Join(root, "vendas", "session-446494018263152_1.1.json")
	config := configOf(t, root)
	var results []movein.Result
	err := movein.FromBaileys(t.Context(), config, func(result movein.Result) {
		results = append(results, result)
		_ = os.Remove(changed)
	})
	if inUse, ok := errors.AsType[*movein.InUseError](err); !ok || !strings.Contains(inUse.Why, "changed while they were read") || len(results) != 2 {
		t.Errorf("got %v, %v", results, err)
	}
}
