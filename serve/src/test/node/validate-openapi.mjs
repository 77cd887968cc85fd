// Validates an OpenAPI document against the specification's own schema: node validate-openapi.mjs FILE
import { Validator } from '@seriousme/openapi-schema-validator';
import fs from 'node:fs';

const result = await new Validator().validate(JSON.parse(fs.readFileSync(process.argv[2], 'utf8')));
console.log(JSON.stringify(result));
process.exit(result.valid ? 0 : 1);
