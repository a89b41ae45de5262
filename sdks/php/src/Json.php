<?php

declare(strict_types=1);

namespace Recado;

use Psr\Http\Message\ResponseInterface;

/**
 * An object in JSON, read field by field. A field that is missing, or null, is null; one of another type than the
 * document of the API says is an \UnexpectedValueException.
 *
 * @internal
 */
final class Json
{
    /** @param array<array-key, mixed> $fields */
    public function __construct(private array $fields, private ?ResponseInterface $answer = null)
    {
    }

    /** Reads an object from its text. */
    public static function decode(string $text, ?ResponseInterface $answer = null): self
    {
        $fields = json_decode($text, true);
        if (!is_array($fields)) {
            throw new \UnexpectedValueException('this is no object in JSON: ' . substr($text, 0, 100));
        }
        return new self($fields, $answer);
    }

    /**
     * Writes the body of a request.
     *
     * @param array<string, mixed> $fields
     */
    public static function encode(array $fields): string
    {
        return json_encode(self::plain((object) $fields), JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
    }

    /** Makes an array an object, which an empty one would not be, and leaves other values as they are. */
    public static function object(mixed $value): mixed
    {
        return is_array($value) ? (object) $value : $value;
    }

    /** What of a value JSON has no words for, a time, is text. */
    private static function plain(mixed $value): mixed
    {
        return match (true) {
            $value instanceof \DateTimeInterface => $value->format(\DateTimeInterface::RFC3339_EXTENDED),
            $value instanceof \stdClass => (object) array_map(self::plain(...), (array) $value),
            is_array($value) => array_map(self::plain(...), $value),
            default => $value,
        };
    }

    public function string(string $name): ?string
    {
        return $this->get($name, is_string(...));
    }

    public function int(string $name): ?int
    {
        return $this->get($name, is_int(...));
    }

    public function float(string $name): ?float
    {
        return $this->get($name, static fn (mixed $value): bool => is_int($value) || is_float($value));
    }

    public function bool(string $name): ?bool
    {
        return $this->get($name, is_bool(...));
    }

    public function time(string $name): ?\DateTimeImmutable
    {
        $text = $this->string($name);
        if ($text === null) {
            return null;
        }
        return date_create_immutable($text) ?: throw new \UnexpectedValueException("$name is no time: $text");
    }

    /** @return array<string, mixed>|null */
    public function map(string $name): ?array
    {
        return $this->get($name, is_array(...));
    }

    /**
     * Reads an object of a class.
     *
     * @template Of of object
     *
     * @param class-string<Of> $class
     *
     * @return Of|null
     */
    public function of(string $name, string $class): ?object
    {
        $fields = $this->map($name);
        return $fields === null ? null : new $class(new self($fields));
    }

    /**
     * Reads a list of objects of a class, or of other values.
     *
     * @template Of of object
     *
     * @param class-string<Of>|null $class
     *
     * @return ($class is null ? list<mixed>|null : list<Of>|null)
     */
    public function list(string $name, ?string $class = null): ?array
    {
        $list = $this->get($name, static fn (mixed $value): bool => is_array($value) && array_is_list($value));
        if ($list === null || $class === null) {
            return $list;
        }
        $items = new self($list);
        return array_map(static fn (int $at): object => $items->of((string) $at, $class)
            ?? throw new \UnexpectedValueException("$name has null at $at"), array_keys($list));
    }

    /** The status of the answer whose body this is; 0 for what is inside of one. */
    public function status(): int
    {
        return $this->answer?->getStatusCode() ?? 0;
    }

    /** A header of the answer whose body this is; empty if it has none. */
    public function header(string $name): string
    {
        return $this->answer?->getHeaderLine($name) ?? '';
    }

    /** @param callable(mixed): bool $fits */
    private function get(string $name, callable $fits): mixed
    {
        $value = $this->fields[$name] ?? null;
        if ($value === null || $fits($value)) {
            return $value;
        }
        throw new \UnexpectedValueException($name . ' is of another type: ' . get_debug_type($value));
    }
}
