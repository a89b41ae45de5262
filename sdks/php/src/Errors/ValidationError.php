<?php

declare(strict_types=1);

namespace Recado\Errors;

/** 400: the request is not valid; $details names the fields. */
final class ValidationError extends RecadoError
{
}
