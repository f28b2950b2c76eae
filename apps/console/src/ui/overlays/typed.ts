type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** What the fields of a dialog held when it was opened, which shows whether anything was typed or chosen since. */
export class Typed {
  readonly #before = new Map<Field, string>()

  /** Notes what the fields hold now, but for those that are known already. */
  note(within: Element): void {
    for (const field of fieldsIn(within))
      if (!this.#before.has(field)) this.#before.set(field, contentOf(field))
  }

  /** Whether a field holds something else than at first. What is gone from the page holds nothing. */
  hasChanged(): boolean {
    return [...this.#before].some(([field, before]) => field.isConnected && contentOf(field) !== before)
  }

  forget(): void {
    this.#before.clear()
  }
}

function fieldsIn(within: Element): Field[] {
  return [...within.querySelectorAll<Field>('input, textarea, select')]
}

function contentOf(field: Field): string {
  const isChecked = field instanceof HTMLInputElement && ['checkbox', 'radio'].includes(field.type)
  if (isChecked) return String(field.checked)
  return field instanceof HTMLInputElement && field.type === 'file'
    ? String(field.files?.length ?? 0)
    : field.value
}
