import { NoSchemaIntrospectionCustomRule } from 'graphql'
import type { Plugin } from 'graphql-yoga'

/** Refuses queries of the schema itself, where the configuration keeps it from clients. */
export function useIntrospection(isAllowed: boolean): Plugin {
  return {
    onValidate({ addValidationRule }) {
      if (!isAllowed) addValidationRule(NoSchemaIntrospectionCustomRule)
    },
  }
}

/** Removes the names that graphql-js suggests for a misspelt one, from which the schema could be guessed. */
export function withoutSuggestion(message: string): string {
  return message.replace(/ Did you mean [^?]*\?/g, '')
}
