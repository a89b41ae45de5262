<?php

declare(strict_types=1);

namespace Recado\Tests;

use PHPUnit\Framework\TestCase;
use Recado\Recado;

/** The examples run as they are shown in the README. */
final class ExamplesTest extends TestCase
{
    private static Recado $recado;
    private static string $instanceId;

    public static function setUpBeforeClass(): void
    {
        self::$recado = new Recado(baseUrl: Gateway::of('baseUrl'), apiKey: Gateway::of('apiKey'));
        self::$instanceId = Gateway::of('instanceId');
    }

    /** Starts an example. */
    private static function example(string $name): Started
    {
        $variables = ['RECADO_URL' => Gateway::of('baseUrl'), 'RECADO_API_KEY' => Gateway::of('apiKey')];
        return new Started([PHP_BINARY, dirname(__DIR__) . "/$name.php"], $variables);
    }

    /** Asks until the answer is one, for half a minute. */
    private static function until(callable $ask): void
    {
        for ($tried = 0; $tried < 600; $tried++) {
            if ($ask()) {
                return;
            }
            usleep(50_000);
        }
        self::fail('it has not come to that');
    }

    public function testTheReadmeShowsTheExamplesAsTheyAre(): void
    {
        $source = (string) getenv('RECADO_PACKAGE');
        preg_match_all('/```php\n(.*?)```/s', (string) file_get_contents("$source/README.md"), $shown);
        $names = array_diff(glob("$source/examples/*.php"), ["$source/examples/guide.php"]);
        $files = array_map(file_get_contents(...), $names);
        self::assertNotEmpty($files);
        self::assertEqualsCanonicalizing($files, $shown[1]);
    }

    public function testTheGuideDoesWhatItSays(): void
    {
        $program = new Started([PHP_BINARY, dirname(__DIR__) . '/guide.php'], [
            'RECADO_URL' => Gateway::of('baseUrl'),
            'RECADO_API_KEY' => Gateway::of('apiKey'),
            'RECADO_PARTNER_KEY' => Gateway::of('partnerKey'),
        ]);
        $codes = ['IDEMPOTENCY_CONFLICT', 'VALIDATION_ERROR', 'RECIPIENT_NOT_REGISTERED', 'UNAUTHORIZED'];
        $codes[] = 'PAYMENT_REQUIRED';
        foreach ($codes as $code) {
            do {
                $line = $program->line();
            } while (!preg_match('/^[A-Z_]{10,}$/D', $line));
            self::assertSame($code, $line);
        }
        self::until(static fn () => count(self::$recado->listInstances()->data) === 1); // its last step deletes its own
        $messages = Gateway::asPhone('5511988887766/messages')['data'];
        $texts = [...array_column($messages, 'text'), ...array_column($messages, 'caption')];
        $expected = ['Chega até as 18h.', 'Seu pedido', 'Como montar', 'Sua nota', 'Chegou?'];
        self::assertSame([], array_diff($expected, $texts));
        self::assertCount(1, array_keys($texts, 'Pedido 1234 enviado.', true));
    }

    public function testSend(): void
    {
        $messageId = self::example('send')->line();
        self::assertSame('Oi!', self::$recado->getMessage(self::$instanceId, $messageId)->text);
    }

    public function testEcho(): void
    {
        $example = self::example('echo');
        $customer = '5511977776655';
        // It echoes what comes from now on, so the customer writes until it does.
        self::until(static function () use ($customer): bool {
            $text = ['to' => Gateway::of('instanceNumber'), 'type' => 'text', 'text' => 'eco'];
            Gateway::asPhone("$customer/messages", $text);
            foreach (Gateway::asPhone("$customer/messages")['data'] as $message) {
                if (!$message['fromMe'] && $message['text'] === 'eco') {
                    return true;
                }
            }
            return false;
        });
        unset($example); // which has run until now
        self::addToAssertionCount(1);
    }

    public function testReceive(): void
    {
        $secret = 'a secret of mine';
        $server = stream_socket_server('tcp://127.0.0.1:0');
        $address = (string) stream_socket_get_name($server, false);
        fclose($server);
        $example = new Started(
            [PHP_BINARY, '-d', 'log_errors=1', '-S', $address, dirname(__DIR__) . '/receive.php'],
            ['WEBHOOK_SECRET' => $secret],
            2,
        );
        self::until(static fn () => @fsockopen("tcp://$address"));
        $events = ['message.received'];
        $webhook = self::$recado->createWebhook(self::$instanceId, "http://$address", events: $events, secret: $secret);
        $text = ['to' => Gateway::of('instanceNumber'), 'type' => 'text', 'text' => 'Bom dia'];
        Gateway::asPhone('5511988887766/messages', $text);
        do {
            $line = $example->line();
        } while (!str_contains($line, 'Bom dia'));
        self::$recado->deleteWebhook(self::$instanceId, $webhook->id);
        self::assertStringEndsWith(': Bom dia', $line);
        self::assertSame('401', substr((string) @get_headers("http://$address")[0], 9, 3));
    }
}
