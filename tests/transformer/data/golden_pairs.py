"""Sentence pairs and word links of the phrasebook, read one by one by hand.

They pin the corpus of the default arguments: whoever changes the grammar reads new ones.
"""

from hashlib import sha256

PAIRS = [
    ("Jane visite l'Afrique en septembre.", "Jane visits Africa in September."),
    ("Thomas visite le Portugal en janvier.", "Thomas visits Portugal in January."),
    ("Le voisin visite les États-Unis.", "The neighbour visits the United States."),
    ("Ils vont aux États-Unis en avril.", "They go to the United States in April."),
    (
        "Thomas dit que Paul vient des États-Unis.",
        "Thomas says that Paul comes from the United States.",
    ),
    ("Les femmes viennent du Japon.", "The women come from Japan."),
    ("Le médecin voyage au Portugal en été.", "The doctor travels in Portugal in summer."),
    ("La femme célèbre vient d'Espagne.", "The famous woman comes from Spain."),
    ("Jane et Paul viennent de France.", "Jane and Paul come from France."),
    ("Alice va en Espagne au printemps.", "Alice goes to Spain in spring."),
    ("Le professeur invite Jane en hiver.", "The teacher invites Jane in winter."),
    ("Jane dort à l'hôtel le matin.", "Jane sleeps at the hotel in the morning."),
    ("Thomas travaille parfois au musée.", "Thomas sometimes works at the museum."),
    (
        "Cet ami japonais regarde un hibou le dimanche.",
        "This Japanese friend watches an owl on Sundays.",
    ),
    ("Thomas ne trouve pas ce hibou.", "Thomas does not find this owl."),
    ("Thomas n'aime pas cet hôtel.", "Thomas does not like this hotel."),
    ("Le bel hôtel est célèbre pour ses gâteaux.", "The beautiful hotel is famous for its cakes."),
    ("Le vieil homme ne voit pas Alice.", "The old man does not see Alice."),
    ("Le nouvel étudiant trouve l'hôtel.", "The new student finds the hotel."),
    ("Paul n'admire pas son amie.", "Paul does not admire his friend."),
    ("Londres est célèbre pour son école.", "London is famous for its school."),
    ("Ces hommes sont célèbres pour leurs chapeaux.", "These men are famous for their hats."),
    ("Ces enfants attendent parfois leur amie.", "These children sometimes wait for their friend."),
    ("Jane et Thomas vendent leurs journaux.", "Jane and Thomas sell their newspapers."),
    ("La ville est célèbre pour ses écoles.", "The city is famous for its schools."),
    ("Ces amis ne viennent pas de France.", "These friends do not come from France."),
    ("Thomas n'admire pas d'oiseaux noirs.", "Thomas does not admire black birds."),
    ("Ce chien s'endort dans le jardin.", "This dog falls asleep in the garden."),
    (
        "Les étudiants japonais se promènent dans la ville.",
        "The Japanese students walk in the city.",
    ),
    ("La vieille voisine se promène sur l'île.", "The old neighbour walks on the island."),
    ("Thomas pense qu'Alice travaille en Espagne.", "Thomas thinks that Alice works in Spain."),
    (
        "Paul mange les pommes parce qu'elles sont délicieuses.",
        "Paul eats the apples because they are delicious.",
    ),
    (
        "Jane n'achète pas le gâteau parce qu'il n'est pas délicieux.",
        "Jane does not buy the cake because it is not delicious.",
    ),
    ("Paul connaît Alice et l'invite.", "Paul knows Alice and invites her."),
    ("Alice connaît Paul et l'invite.", "Alice knows Paul and invites him."),
    ("Jane écrit des livres et les vend.", "Jane writes books and sells them."),
    ("Elle trouve le chapeau mais ne le vend pas.", "She finds the hat but does not sell it."),
    ("Ils admirent l'oiseau d'Alice.", "They admire Alice's bird."),
    (
        "Thomas regarde l'actrice célèbre le matin.",
        "Thomas watches the famous actress in the morning.",
    ),
    ("L'ami lit les lettres du médecin.", "The friend reads the doctor's letters."),
    ("Elle visite beaucoup d'îles italiennes.", "She visits many Italian islands."),
    ("Les médecins célèbres visitent beaucoup de villes.", "The famous doctors visit many cities."),
    (
        "Alice et Jane ne lisent pas le journal utile.",
        "Alice and Jane do not read the useful newspaper.",
    ),
    ("De petites souris noires dorment.", "Small black mice sleep."),
    ("Les oiseaux voient trois petits chevaux blancs.", "The birds see three small white horses."),
    (
        "Jane et Alice admirent trois voitures chères.",
        "Jane and Alice admire three expensive cars.",
    ),
    ("La neige rend rarement la promenade plus longue.", "The snow rarely makes the walk longer."),
    (
        "Le soleil rend le voyage en Europe plus agréable.",
        "The sun makes the trip to Europe more pleasant.",
    ),
    (
        "Le soleil rend le travail des amis qui habitent à Paris plus agréable.",
        "The sun makes the work of the friends who live in Paris more pleasant.",
    ),
    ("Cette école est plus grande que la maison.", "This school is bigger than the house."),
    ("Paul est plus célèbre qu'Alice.", "Paul is more famous than Alice."),
    ("Ce chat ne voit pas souvent cette souris.", "This cat does not often see this mouse."),
    ("Ils attendent Paul et l'aident.", "They wait for Paul and help him."),
    ("Le chapeau qui est sur la table est grand.", "The hat that is on the table is big."),
    (
        "La souris qui dort sous la table voit cette voisine.",
        "The mouse that sleeps under the table sees this neighbour.",
    ),
    ("Jane aime les histoires célèbres.", "Jane likes famous stories."),
    ("Alice aime la ville.", "Alice likes the city."),
    (
        "Thomas lit trois journaux utiles le dimanche.",
        "Thomas reads three useful newspapers on Sundays.",
    ),
    ("Le bruit ne rend pas la vie plus difficile.", "The noise does not make life more difficult."),
    ("Alice cherche l'oiseau et le trouve.", "Alice looks for the bird and finds it."),
]

# Source word, target word; a word without counterpart (the article of `l'Afrique`) has none.
ALIGNMENTS = {
    "Jane visite l'Afrique en août.": [
        ("Jane", "Jane"),
        ("visite", "visits"),
        ("Afrique", "Africa"),
        ("en", "in"),
        ("août", "August"),
    ],
    "Jane cherche la chemise mais ne la trouve pas.": [
        ("Jane", "Jane"),
        ("cherche", "looks"),
        ("cherche", "for"),
        ("la", "the"),
        ("chemise", "shirt"),
        ("mais", "but"),
        ("ne", "not"),
        ("la", "it"),
        ("trouve", "does"),
        ("trouve", "find"),
        ("pas", "not"),
    ],
    "Alice ne travaille pas souvent.": [
        ("Alice", "Alice"),
        ("ne", "not"),
        ("travaille", "does"),
        ("travaille", "work"),
        ("pas", "not"),
        ("souvent", "often"),
    ],
    "La neige rend le voyage en Italie plus long.": [
        ("la", "the"),
        ("neige", "snow"),
        ("rend", "makes"),
        ("le", "the"),
        ("voyage", "trip"),
        ("en", "to"),
        ("Italie", "Italy"),
        ("plus", "longer"),
        ("long", "longer"),
    ],
    "Jane n'écrit pas d'histoires.": [
        ("Jane", "Jane"),
        ("n'", "not"),
        ("écrit", "does"),
        ("écrit", "write"),
        ("pas", "not"),
        ("histoires", "stories"),
    ],
    "Elle aime les chapeaux.": [("elle", "she"), ("aime", "likes"), ("chapeaux", "hats")],
    "Elles invitent parfois beaucoup d'amies.": [
        ("elles", "they"),
        ("invitent", "invite"),
        ("parfois", "sometimes"),
        ("beaucoup", "many"),
        ("d'", "many"),
        ("amies", "friends"),
    ],
    "Jane vient du Japon.": [
        ("Jane", "Jane"),
        ("vient", "comes"),
        ("du", "from"),
        ("Japon", "Japan"),
    ],
    "Ils admirent l'oiseau d'Alice.": [
        ("ils", "they"),
        ("admirent", "admire"),
        ("oiseau", "bird"),
        ("d'", "'s"),
        ("Alice", "Alice"),
    ],
}


def fingerprint(examples):
    """Of everything that is known about these pairs: it changes with any word, link or tree."""
    found = sha256()
    for example in examples:
        facts = vars(example) | {"alignment": sorted(example.alignment)}
        found.update(repr(facts).encode())
    return found.hexdigest()
