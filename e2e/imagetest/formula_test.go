//go:build linux

package imagetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// Homebrew compares what it downloads with the checksums of the formula: they are those of
// checksums.txt, each beside the archive of its system and processor.
func TestFormulaHasTheChecksumsOfTheRelease(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(sums string) {
		if err := os.WriteFile(filepath.Join(folder, "checksums.txt"), []byte(sums), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var sums string
	var wanted []string
	for i, machine := range []string{"linux_arm64", "linux_amd64", "darwin_amd64", "darwin_arm64"} {
		sum, name := strings.Repeat(fmt.Sprint(i+1), 64), "recado_1.2.3_"+machine+".tar.gz"
		sums += sum + "  " + name + "\n"
		processor := map[string]string{"amd64": "intel", "arm64": "arm"}[strings.Split(machine, "_")[1]]
		wanted = append(wanted, fmt.Sprintf("    on_%s do\n      url %q\n      sha256 %q\n    end\n", processor,
			"https://github.com/recado-project/recado/releases/download/v1.2.3/"+name, sum))
	}
	// What Homebrew can't install is left out.
	others := strings.Repeat("5", 64) + "  recado_1.2.3_linux_amd64.deb\n" + strings.Repeat("6", 64) + "  recado_1.2.3_windows_amd64.zip\n"
	write(sums + others)
	if _, err := runTool(t, "release/formula", "", folder); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(folder, "recado.rb"))
	if err != nil {
		t.Fatal(err)
	}
	formula := string(content)
	blocks := "\n  on_macos do\n" + wanted[2] + wanted[3] + "  end\n\n  on_linux do\n" + wanted[0] + wanted[1] + "  end\n"
	if !strings.Contains(formula, blocks) || strings.Count(formula, "sha256") != 4 || !strings.Contains(formula, "\n  version \"1.2.3\"\n") {
		t.Errorf("the formula is\n%s\nand lacks\n%s", formula, blocks)
	}
	for wrong, message := range cases.Sorted(map[string]string{
		strings.Replace(sums, "recado_1.2.3_darwin", "recado_1.2.4_darwin", 1): "versions 1.2.3 and 1.2.4",
		sums[strings.Index(sums, "\n")+1:]:                                     "1 archives for linux",
	}) {
		write(wrong)
		if _, err := runTool(t, "release/formula", "", folder); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("a formula is written of\n%s\n%v", wrong, err)
		}
	}
}
