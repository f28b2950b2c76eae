import type { OutsidePackage, ThirdPartyPackage } from './bundled-packages.ts'

type Named = Pick<ThirdPartyPackage, 'name' | 'version' | 'license'>

/**
 * Returns the bill of materials of the package, in CycloneDX: what is bundled, which `npm sbom` cannot see, and what npm
 * installs beside it. It has neither a date nor a random number, so that the same sources make the same file.
 */
export function softwareBill(
  own: Named,
  bundled: readonly ThirdPartyPackage[],
  outside: readonly OutsidePackage[],
): object {
  const inside = bundled.map((each) => component(each, 'required', 'true'))
  const beside = outside.map((each) => component(each, each.isOptional ? 'optional' : 'required', 'false'))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...named(own), type: 'application' } },
    components: [...inside, ...beside],
    dependencies: [
      { ref: urlOf(own), dependsOn: [...bundled, ...outside].map(urlOf) },
      ...[...bundled, ...outside].map((each) => ({ ref: urlOf(each), dependsOn: [] })),
    ],
  }
}

function component(each: Named, scope: 'required' | 'optional', isBundled: 'true' | 'false') {
  return {
    ...named(each),
    type: 'library',
    scope,
    properties: [{ name: 'trunkline:bundled', value: isBundled }],
  }
}

function named(each: Named) {
  const { name, version, license } = each
  const isIdentifier = /^[\w.-]+$/.test(license)
  return {
    'bom-ref': urlOf(each),
    name,
    version,
    purl: urlOf(each),
    licenses: [isIdentifier ? { license: { id: license } } : { expression: license }],
  }
}

/** The package URL, in which only the `@` of a scope needs an escape. */
function urlOf({ name, version }: Named): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}
