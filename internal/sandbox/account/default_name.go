package account

import "hash/fnv"

// defaultName returns a name for a new phone. The same number always gets the same
// name.
func defaultName(number string) string {
	first := [...]string{
		"Ana", "Bruno", "Carla", "Davi", "Elena", "Felipe", "Gabriela", "Hugo", "Inês", "João", "Karin", "Lucas",
		"Marina", "Nuno", "Olívia", "Paulo", "Raquel", "Sofia", "Tiago", "Vera",
	}
	last := [...]string{
		"Almeida", "Barros", "Castro", "Duarte", "Esteves", "Ferreira", "Gomes", "Lima", "Martins", "Nunes",
		"Oliveira", "Pereira", "Ramos", "Santos", "Teixeira", "Vieira",
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(number)) // a hash never fails
	sum := hash.Sum32()
	return first[sum%uint32(len(first))] + " " + last[sum/31%uint32(len(last))]
}
