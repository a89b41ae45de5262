<?php

// The package as it was installed, and what the tests share.

require __DIR__ . '/../vendor/autoload.php';
require __DIR__ . '/Gateway.php';
require __DIR__ . '/Started.php';
