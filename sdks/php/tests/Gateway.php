<?php

declare(strict_types=1);

namespace Recado\Tests;

/** The gateway that the tests talk to, which check.sh has started. */
final class Gateway
{
    /** Something of what `recado dev --ready-file` wrote, such as baseUrl. */
    public static function of(string $name): string
    {
        return json_decode((string) file_get_contents((string) getenv('RECADO_READY_FILE')), true)[$name];
    }

    /**
     * Asks the sandbox's phones.
     *
     * @param array<string, mixed>|null $body
     *
     * @return array<string, mixed>
     */
    public static function asPhone(string $path, ?array $body = null): array
    {
        $answer = file_get_contents(self::of('baseUrl') . '/sandbox/api/phones/' . $path, false, stream_context_create([
            'http' => $body === null ? [] : [
                'method' => 'POST',
                'header' => 'Content-Type: application/json',
                'content' => json_encode($body, JSON_THROW_ON_ERROR),
            ],
        ]));
        return json_decode((string) $answer, true) ?? [];
    }
}
