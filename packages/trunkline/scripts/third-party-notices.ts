import type { ThirdPartyPackage } from './bundled-packages.ts'

const INTRODUCTION = `The files of this package contain code of the packages below. Each group has one text, and names the packages to which it
applies. Packages that are installed beside this one bring their own.`

/**
 * Returns the licences and notices of the packages, each text once. `mit` is a text of the MIT licence, for packages that name
 * it without including it.
 *
 * @throws Error if there is no text for a package
 */
export function thirdPartyNotices(packages: readonly ThirdPartyPackage[], mit: string): string {
  const textsOf = (each: ThirdPartyPackage) =>
    each.texts.length > 0 ? each.texts : [missingText(each, packages, mit)]
  const texts = packages.flatMap((each) => textsOf(each).map((text) => ({ text, each })))
  const groups = Map.groupBy(texts, ({ text }) => text)
  const sections = [...groups].map(([text, uses]) => {
    const names = uses.map(({ each: { name, version, license } }) => `${name} ${version} (${license})`)
    return `${names.join('\n')}\n\n${text}`
  })
  return `${[INTRODUCTION, ...sections].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** Some authors name a licence in the manifest alone. Its text is that of others, with their name where it has one. */
function missingText(
  { name, license, author }: ThirdPartyPackage,
  packages: readonly ThirdPartyPackage[],
  mit: string,
): string {
  if (license === 'MIT')
    return mit.replace(/^Copyright .*$/m, `Copyright (c) ${author ?? `the authors of ${name}`}`).trim()
  // The text of the Apache licence names nobody.
  const same =
    license === 'Apache-2.0' ? packages.find((each) => each.license === license && each.texts[0]) : undefined
  if (same?.texts[0] === undefined) throw new Error(`${name} is under ${license}, of which there is no text.`)
  return same.texts[0]
}
